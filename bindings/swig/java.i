// What Java sees of the C functions: static methods of the hidden class MortiseNative.
//
// - A handle is a long. A name or another text is a byte[] of true UTF-8, because JNI's own strings
//   are "modified" UTF-8, in which the same name would be another lock than in other languages.
// - An error is thrown, with its details, by the call that met it. Outcomes of normal life are what
//   a call returns: an exception costs a hundred times as much.
// - Events arrive as a batch of plain numbers, and the exception of each that tells of an error.

%pragma(java) jniclassclassmodifiers="final class"
%pragma(java) jniclasscode=%{
  static {
    NativeLibrary.load();
    initialize(MortiseException.class);
  }

  private MortiseNative() {}

  /** Where the calls find the exception that they throw. */
  private static native void initialize(Class<?> exception);

  /**
   * Takes events off a queue, waiting for the first. Fills records with the ten numbers of each,
   * from its kind to its hold number and its leader, which is an info to be freed, and failures with the exception of each that reports an error.
   * Returns how many there are, or -1 once the queue is shut down and drained.
   */
  static native int nextEvents(long queue, long timeoutMillis, long[] records, Object[] failures);
%}

// Those that Java needs are in templates/*.java; the rest is C's alone.
%rename("$ignore", %$isenumitem) "";
%rename("$ignore", %$isconstant) "";
%ignore mortise_status_code;
%ignore mortise_kind_code;
%ignore mortise_reason_code;
%ignore mortise_severity_code;
%ignore mortise_log_level_code;
%ignore mortise_log_subject_code;
%ignore mortise_get_api;
%ignore mortise_check_abi;
%rename("$ignore", regextarget=1) "^mortise_(error|event)_";
// An owner in Java knows its name, which may have a NUL in it.
%rename("$ignore", regextarget=1, fullname=1) "^mortise_(lock|rw|semaphore|election|hold_id)_name$";
%ignore mortise_queue_next;
%ignore mortise_queue_next_batch;
%ignore mortise_queue_fd;
%ignore mortise_queue_wake;

// ---- handles -------------------------------------------------------------------------------
%define MORTISE_JAVA_HANDLE(TYPE)
%typemap(jni) TYPE *, const TYPE * "jlong"
%typemap(jtype) TYPE *, const TYPE * "long"
%typemap(jstype) TYPE *, const TYPE * "long"
%typemap(javain) TYPE *, const TYPE * "$javainput"
%typemap(javaout) TYPE *, const TYPE * { return $jnicall; }
%typemap(in) TYPE *, const TYPE * %{ $1 = ($1_ltype)(intptr_t)$input; %}
%typemap(out) TYPE *, const TYPE * %{ $result = (jlong)(intptr_t)$1; %}
%enddef
MORTISE_EACH_HANDLE(MORTISE_JAVA_HANDLE)

// ---- texts ---------------------------------------------------------------------------------
%define MORTISE_JAVA_TEXT(POINTER, LENGTH)
%typemap(jni) (POINTER, LENGTH) "jbyteArray"
%typemap(jtype) (POINTER, LENGTH) "byte[]"
%typemap(jstype) (POINTER, LENGTH) "byte[]"
%typemap(javain) (POINTER, LENGTH) "$javainput"
%typemap(in) (POINTER, LENGTH) %{
  if ($input == NULL) {
    SWIG_JavaThrowException(jenv, SWIG_JavaNullPointerException, "$1_name");
    return $null;
  }
  $1 = ($1_ltype)(*jenv)->GetByteArrayElements(jenv, $input, NULL);
  if ($1 == NULL) return $null;
  $2 = ($2_ltype)(*jenv)->GetArrayLength(jenv, $input);
%}
%typemap(freearg) (POINTER, LENGTH) %{
  (*jenv)->ReleaseByteArrayElements(jenv, $input, (jbyte *)$1, JNI_ABORT);
%}
// SWIG's own one for (char *, size_t) would copy back what was never written.
%typemap(argout) (POINTER, LENGTH) ""
%enddef
MORTISE_EACH_TEXT(MORTISE_JAVA_TEXT)
// Without one it is that of the environment.
%typemap(in) (const char *url, size_t url_len) %{
  $1 = $input != NULL ? ($1_ltype)(*jenv)->GetByteArrayElements(jenv, $input, NULL) : NULL;
  if ($input != NULL && $1 == NULL) return $null;
  $2 = $input != NULL ? ($2_ltype)(*jenv)->GetArrayLength(jenv, $input) : 0;
%}
%typemap(freearg) (const char *url, size_t url_len) %{
  if ($input != NULL) {
    (*jenv)->ReleaseByteArrayElements(jenv, $input, (jbyte *)$1, JNI_ABORT);
  }
%}

%typemap(jni) const char * "jbyteArray"
%typemap(jtype) const char * "byte[]"
%typemap(jstype) const char * "byte[]"
%typemap(javaout) const char * { return $jnicall; }
%typemap(out) const char * %{ $result = mortise_java_bytes(jenv, $1); %}

// ---- errors --------------------------------------------------------------------------------
%typemap(in, numinputs=0) mortise_error *error %{ $1 = mortise_error_new(); %}
// No return here: the memory of the other arguments has to be released, too.
%typemap(argout) mortise_error *error %{ mortise_java_throw(jenv, $1); %}
%typemap(freearg) mortise_error *error %{ mortise_error_free($1); %}
// Of an extension also what is no error to others: it says which member of a multi was lost.
%typemap(jni) (int64_t lease_ms, mortise_error *error) "jlong"
%typemap(jtype) (int64_t lease_ms, mortise_error *error) "long"
%typemap(jstype) (int64_t lease_ms, mortise_error *error) "long"
%typemap(javain) (int64_t lease_ms, mortise_error *error) "$javainput"
%typemap(in) (int64_t lease_ms, mortise_error *error) %{
  $1 = (int64_t)$input;
  $2 = mortise_error_new();
%}
%typemap(argout) (int64_t lease_ms, mortise_error *error) %{ mortise_java_throw_any(jenv, $2); %}
%typemap(freearg) (int64_t lease_ms, mortise_error *error) %{ mortise_error_free($2); %}

%{
#include <string.h>

// Weak: a class that native code holds would keep its class loader for ever. It is there as long as the
// class that calls us, which has the same loader.
static jweak mortise_java_exception;
static jmethodID mortise_java_exception_of;

static jbyteArray mortise_java_copy(JNIEnv *env, const char *text, size_t size) {
  const jsize length = (jsize)size;
  const jbyteArray bytes = (*env)->NewByteArray(env, length);
  if (bytes != NULL) (*env)->SetByteArrayRegion(env, bytes, 0, length, (const jbyte *)text);
  return bytes;
}

static jbyteArray mortise_java_bytes(JNIEnv *env, const char *text) {
  return mortise_java_copy(env, text, strlen(text));
}

// The exception for these details; NULL with another one pending when memory runs out.
static jthrowable mortise_java_failure(JNIEnv *env, jint status, const char *message,
                                       const char *name, size_t name_len, const char *server_text,
                                       int32_t is_retryable, int32_t is_ambiguous) {
  const jbyteArray message_bytes = mortise_java_bytes(env, message);
  const jbyteArray name_bytes = message_bytes ? mortise_java_copy(env, name, name_len) : NULL;
  const jbyteArray server_bytes = name_bytes ? mortise_java_bytes(env, server_text) : NULL;
  jthrowable failure = NULL;
  if (server_bytes != NULL) {
    failure = (jthrowable)(*env)->CallStaticObjectMethod(
        env, mortise_java_exception, mortise_java_exception_of, status, message_bytes, name_bytes,
        server_bytes, (jboolean)(is_retryable != 0), (jboolean)(is_ambiguous != 0));
    if ((*env)->ExceptionCheck(env)) failure = NULL;
  }
  (*env)->DeleteLocalRef(env, server_bytes);
  (*env)->DeleteLocalRef(env, name_bytes);
  (*env)->DeleteLocalRef(env, message_bytes);
  return failure;
}

static void mortise_java_throw_this(JNIEnv *env, const mortise_error *error) {
  size_t name_len = 0;
  const char *const name = mortise_error_lock_name(error, &name_len);
  const jthrowable failure = mortise_java_failure(
      env, mortise_error_status(error), mortise_error_message(error), name, name_len,
      mortise_error_server_text(error), mortise_error_is_retryable(error),
      mortise_error_is_ambiguous(error));
  if (failure != NULL) (*env)->Throw(env, failure);
}

// Whether the status becomes an exception: after a deadlock the caller must release what it holds.
static int mortise_java_is_thrown(mortise_status status) {
  return status < MORTISE_OK || status == MORTISE_DEADLOCK;
}

static void mortise_java_throw(JNIEnv *env, const mortise_error *error) {
  if (error == NULL) {
    SWIG_JavaThrowException(env, SWIG_JavaOutOfMemoryError, "native memory");
    return;
  }
  if (mortise_java_is_thrown(mortise_error_status(error))) mortise_java_throw_this(env, error);
}

// Also an outcome of normal life, but for a queue's end: a failed extension says what it was about.
static void mortise_java_throw_any(JNIEnv *env, const mortise_error *error) {
  const mortise_status status = error == NULL ? MORTISE_NO_MEMORY : mortise_error_status(error);
  if (status > MORTISE_OK && status != MORTISE_SHUT_DOWN) return mortise_java_throw_this(env, error);
  mortise_java_throw(env, error);
}

// Of each event in the array of records.
enum { mortise_java_fields = 10 };

// The message and the lock's name of a line of a log, as a byte[][]; NULL with an exception pending
// when memory runs out.
static jobjectArray mortise_java_line(JNIEnv *env, const mortise_event *event, const char *name,
                                      size_t name_len) {
  const jbyteArray message = mortise_java_bytes(env, mortise_event_message(event));
  const jbyteArray lock = message ? mortise_java_copy(env, name, name_len) : NULL;
  const jclass type = lock ? (*env)->GetObjectClass(env, lock) : NULL;
  const jobjectArray texts = type ? (*env)->NewObjectArray(env, 2, type, message) : NULL;
  if (texts != NULL) (*env)->SetObjectArrayElement(env, texts, 1, lock);
  (*env)->DeleteLocalRef(env, type);
  (*env)->DeleteLocalRef(env, lock);
  (*env)->DeleteLocalRef(env, message);
  return texts;
}

// The leader that the event has, as an info for Java to free; 0 for any other event, and when memory
// runs out.
static jlong mortise_java_leader(const mortise_event *event) {
  const mortise_kind kind = mortise_event_kind(event);
  if (kind != MORTISE_EVENT_LEADER && kind != MORTISE_EVENT_NO_LEADER) return 0;
  mortise_info *info = mortise_info_new();
  if (mortise_event_leader(event, info, NULL) == MORTISE_OK) return (jlong)(intptr_t)info;
  mortise_info_free(info);
  return 0;
}

// Whether the event could be written at this index; if not, an exception is pending.
static int mortise_java_put_event(JNIEnv *env, const mortise_event *event, jsize index,
                                  jlongArray records, jobjectArray details) {
  const mortise_status status = mortise_event_status(event);
  const jlong record[mortise_java_fields] = {mortise_event_kind(event),
                                             mortise_event_tag(event), status,
                                             mortise_event_token(event),
                                             mortise_event_reason(event),
                                             mortise_event_log_level(event),
                                             mortise_event_log_subject(event),
                                             mortise_event_dropped_records(event),
                                             mortise_event_hold_number(event),
                                             mortise_java_leader(event)};
  (*env)->SetLongArrayRegion(env, records, index * mortise_java_fields, mortise_java_fields,
                             record);
  if ((*env)->ExceptionCheck(env)) return 0;
  const int is_line = mortise_event_kind(event) == MORTISE_EVENT_LOG;
  const int is_extension = mortise_event_kind(event) == MORTISE_EVENT_EXTENDED;
  const int is_failure = mortise_java_is_thrown(status) || (status > MORTISE_OK && is_extension);
  if (!is_line && !is_failure) return 1;
  size_t name_len = 0;
  const char *const name = mortise_event_lock_name(event, &name_len);
  const jobject detail =
      is_line ? mortise_java_line(env, event, name, name_len)
              : mortise_java_failure(env, status, mortise_event_message(event), name, name_len,
                                     mortise_event_server_text(event),
                                     mortise_event_is_retryable(event),
                                     mortise_event_is_ambiguous(event));
  if (detail == NULL) {
    // Out of memory. Whoever waits is told the status without the details.
    (*env)->ExceptionClear(env);
    return 1;
  }
  (*env)->SetObjectArrayElement(env, details, index, detail);
  (*env)->DeleteLocalRef(env, detail);
  return !(*env)->ExceptionCheck(env);
}

SWIGEXPORT void JNICALL Java_org_mortise_MortiseNative_initialize(JNIEnv *env, jclass calls,
                                                                jclass exception) {
  (void)calls;
  mortise_java_exception = (*env)->NewWeakGlobalRef(env, exception);
  mortise_java_exception_of = (*env)->GetStaticMethodID(
      env, exception, "of", "(I[B[B[BZZ)Lorg/mortise/MortiseException;");
}

SWIGEXPORT jint JNICALL Java_org_mortise_MortiseNative_nextEvents(JNIEnv *env, jclass calls,
                                                                jlong queue, jlong timeout_ms,
                                                                jlongArray records,
                                                                jobjectArray details) {
  (void)calls;
  mortise_event *event = mortise_event_new();
  mortise_error *error = mortise_error_new();
  if (event == NULL || error == NULL) {
    SWIG_JavaThrowException(env, SWIG_JavaOutOfMemoryError, "native memory");
  }
  const jsize capacity = (*env)->ExceptionCheck(env)
                             ? 0
                             : (*env)->GetArrayLength(env, records) / mortise_java_fields;
  mortise_queue *const events = (mortise_queue *)(intptr_t)queue;
  mortise_status status = MORTISE_OK;
  jint count = 0;
  while (count < capacity) {
    // Only the first is waited for.
    status = mortise_queue_next(events, count == 0 ? timeout_ms : 0, event, error);
    if (status != MORTISE_OK || !mortise_java_put_event(env, event, count, records, details)) break;
    ++count;
  }
  if (status < MORTISE_OK) mortise_java_throw(env, error);
  mortise_event_free(event);
  mortise_error_free(error);
  return count == 0 && status == MORTISE_SHUT_DOWN ? -1 : count;
}
%}
