/*
 * Go. Handles are uintptr, 0 for NULL; texts are Go strings, passed without a copy; numbers have
 * their C widths. Statuses come back as int32 and details stay in the mortise_error that the
 * caller gives (from Error_new), to be read in the same goroutine.
 */

/* SWIG would make each of them a variable that is set by a call into C at start. */
%rename("$ignore", %$isenumitem) "";
%ignore mortise_status_code;
%ignore mortise_event_kind_code;
%ignore MORTISE_FOREVER;

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

/* Borrowed, ends in NUL: to be copied at once. */
%typemap(gotype) const char * "*byte"
%typemap(imtype) const char * "*byte"
%typemap(out) const char * %{ $result = (char *)$1; %}
%typemap(goout) const char * ""

%typemap(gotype) int32_t, mortise_status, mortise_event_kind "int32"
%typemap(gotype) int64_t "int64"

/* mortise_queue_next_batch: the first element of a slice, and a number to set. */
%typemap(gotype) int64_t *records, int64_t *count "*int64"
%typemap(in) int64_t *records, int64_t *count %{ $1 = ($1_ltype)$input; %}
