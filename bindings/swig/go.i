/*
 * Go. Handles are uintptr, 0 for NULL; texts are Go strings, passed without a copy; numbers have
 * their C widths. Statuses come back as int32 and details stay in the mortise_error that the
 * caller gives (from Error_new), to be read in the same goroutine.
 */

/* SWIG would make each of them a variable that is set by a call into C at start; templates/constants.go
   has them. */
%rename("$ignore", %$isenumitem) "";
%ignore mortise_status_code;
%ignore mortise_kind_code;
%ignore mortise_reason_code;
%ignore mortise_severity_code;
%ignore mortise_log_level_code;
%ignore mortise_log_subject_code;
%rename("$ignore", %$isconstant) "";

%define MORTISE_GO_HANDLE(TYPE)
%typemap(gotype) TYPE *, const TYPE * "uintptr"
%typemap(imtype) TYPE *, const TYPE * "uintptr"
%typemap(in) TYPE *, const TYPE * %{ $1 = ($1_ltype)$input; %}
%typemap(out) TYPE * %{ $result = $1; %}
%enddef
MORTISE_EACH_HANDLE(MORTISE_GO_HANDLE)
MORTISE_GO_HANDLE(mortise_error)

%define MORTISE_GO_TEXT(POINTER, LENGTH)
%typemap(gotype) (POINTER, LENGTH) "string"
%typemap(imtype) (POINTER, LENGTH) "string"
%typemap(in) (POINTER, LENGTH) %{
  $1 = ($1_ltype)$input.p;
  $2 = ($2_ltype)$input.n;
%}
%typemap(freearg) (POINTER, LENGTH) ""
%enddef
MORTISE_EACH_TEXT(MORTISE_GO_TEXT)
/* None is that of the environment. */
%typemap(in) (const char *url, size_t url_len) %{
  $1 = $input.n > 0 ? ($1_ltype)$input.p : NULL;
  $2 = ($2_ltype)$input.n;
%}

/* Borrowed, ends in NUL: to be copied at once. */
%typemap(gotype) const char * "*byte"
%typemap(imtype) const char * "*byte"
%typemap(out) const char * %{ $result = (char *)$1; %}
%typemap(goout) const char * ""

%typemap(gotype) int32_t, mortise_status, mortise_kind, mortise_reason, mortise_severity,
                 mortise_log_level, mortise_log_subject "int32"
%typemap(gotype) int64_t "int64"

/* The first element of a slice. */
%typemap(gotype) int64_t *records "*int64"
%typemap(in) int64_t *records %{ $1 = ($1_ltype)$input; %}

/* A handle in Go knows its name, which may have a NUL in it. */
%rename("$ignore", regextarget=1, fullname=1) "^mortise_(lock|rw|semaphore|election|hold_id)_name$";

/* The queue is read by `mortise_go_drain` instead. */
%ignore mortise_queue_next;
%ignore mortise_queue_next_batch;

%inline %{
/* Takes events as the records of `mortise_queue_next_batch`, until there are no more, there is no room
   for more than `capacity` of them, or one has more than numbers, such as a failure, a line of a log
   or a leader: that one is the last, and the rest of it is in `event`. Returns how many, or -1 when no event will ever come again. */
static int64_t mortise_go_drain(mortise_queue *queue, mortise_event *event, int64_t timeout_ms,
                                int64_t *records, int64_t capacity) {
  int64_t count = 0;
  while (count < capacity) {
    int64_t *record = records + count * MORTISE_RECORD_FIELDS;
    mortise_status status = mortise_queue_next(queue, count == 0 ? timeout_ms : 0, event, NULL);
    if (status != MORTISE_OK) return count == 0 && status != MORTISE_TIMED_OUT ? -1 : count;
    ++count;
    record[0] = mortise_event_kind(event);
    record[1] = mortise_event_tag(event);
    record[2] = mortise_event_status(event);
    record[3] = mortise_event_token(event);
    record[4] = mortise_event_hold_number(event);
    if (record[2] != MORTISE_OK || record[0] == MORTISE_EVENT_LOG ||
        record[0] == MORTISE_EVENT_LEADER || record[0] == MORTISE_EVENT_NO_LEADER) {
      break;
    }
  }
  return count;
}
%}

%insert(go_header) %{
// Text copies a text of C, which ends in NUL.
func Text(first *byte) string {
	if first == nil {
		return ""
	}
	length := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(first), length)) != 0 {
		length++
	}
	return string(unsafe.Slice(first, length))
}

// Name copies a name, which may have a NUL in it, that C gives of an object.
func Name(object uintptr, ask func(object uintptr, length *int64) *byte) string {
	var length int64
	first := ask(object, &length)
	return string(unsafe.Slice(first, length))
}
%}
