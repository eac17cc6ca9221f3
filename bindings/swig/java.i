/*
 * Java. Handles are long, 0 for NULL; texts are byte[] in both directions, because String in JNI is
 * not UTF-8. Statuses of normal life are returned; an error is thrown in the same call as
 * MortiseException(int code, String message, String serverText, boolean isRetryable,
 * boolean isAmbiguous), its texts as byte[].
 */

/* Written in Java by hand, where they are constants of the compiler. */
%rename("$ignore", %$isenumitem) "";
%rename("$ignore", %$isconstant) "";
%ignore mortise_status_code;
%ignore mortise_event_kind_code;
%rename("$ignore", regextarget=1, fullname=1) "^mortise_error_";
%pragma(java) jniclassclassmodifiers="final class"
%pragma(java) moduleclassmodifiers="final class"
%pragma(java) jniclasscode=%{
  static {
    NativeLoader.load();
    init(MortiseException.class);
  }

  private static native void init(Class<?> exception);

  private MortiseNative() {}
%}

%{
#include <stdlib.h>
#include <string.h>

static jclass mortise_java_exception;
static jmethodID mortise_java_exception_new;

SWIGEXPORT void JNICALL Java_org_mortise_MortiseNative_init(JNIEnv *env, jclass self,
                                                          jclass exception) {
  (void)self;
  mortise_java_exception = (jclass)(*env)->NewGlobalRef(env, exception);
  mortise_java_exception_new = (*env)->GetMethodID(env, exception, "<init>", "(I[B[BZZ)V");
}

static jbyteArray mortise_java_bytes(JNIEnv *env, const char *text) {
  const jsize length = (jsize)strlen(text);
  jbyteArray bytes = (*env)->NewByteArray(env, length);
  if (bytes) (*env)->SetByteArrayRegion(env, bytes, 0, length, (const jbyte *)text);
  return bytes;
}

static void mortise_java_throw(JNIEnv *env, mortise_status status, const mortise_error *error) {
  const char *message = error ? mortise_error_message(error) : "";
  jbyteArray text, server_text;
  jthrowable thrown;
  text = mortise_java_bytes(env, *message ? message : mortise_status_text(status));
  if (!text) return;
  server_text = mortise_java_bytes(env, error ? mortise_error_server_text(error) : "");
  if (!server_text) return;
  thrown = (jthrowable)(*env)->NewObject(
      env, mortise_java_exception, mortise_java_exception_new, (jint)status, text, server_text,
      (jboolean)(error && mortise_error_is_retryable(error)),
      (jboolean)(error && mortise_error_is_ambiguous(error)));
  if (thrown) (*env)->Throw(env, thrown);
}

static jlong mortise_java_handle(JNIEnv *env, const void *handle, const mortise_error *error) {
  if (!handle) {
    mortise_java_throw(env, error ? mortise_error_code(error) : MORTISE_NO_MEMORY, error);
  }
  return (jlong)(intptr_t)handle;
}
%}

/* ---- errors and statuses ------------------------------------------------------------------ */
%typemap(in, numinputs=0, noblock=1) mortise_error *error {
  mortise_error *error = mortise_error_new();
  $1 = error;
}
%typemap(freearg, noblock=1) mortise_error *error { mortise_error_free(error); }
/* No return from here: freearg has to run. */
%typemap(out, noblock=1) mortise_status {
  $result = (jint)$1;
  if ($1 < 0) mortise_java_throw(jenv, $1, error);
}
/* These two are statuses as values, not outcomes of the call. */
%typemap(out, noblock=1) mortise_status mortise_check_abi, mortise_status mortise_event_status {
  $result = (jint)$1;
}

/* ---- handles ------------------------------------------------------------------------------ */
%define MORTISE_JAVA_HANDLE(TYPE)
%typemap(jni) TYPE *, const TYPE * "jlong"
%typemap(jtype) TYPE *, const TYPE * "long"
%typemap(jstype) TYPE *, const TYPE * "long"
%typemap(javain) TYPE *, const TYPE * "$javainput"
%typemap(javaout) TYPE * { return $jnicall; }
%typemap(in) TYPE *, const TYPE * %{ $1 = ($1_ltype)(intptr_t)$input; %}
%typemap(out, noblock=1) TYPE * { $result = mortise_java_handle(jenv, $1, error); }
%enddef
MORTISE_EACH_HANDLE(MORTISE_JAVA_HANDLE)

/* Only memory can be missing here. */
%typemap(out, noblock=1) mortise_options *mortise_options_new,
                         mortise_event *mortise_event_new, mortise_info *mortise_info_new {
  $result = mortise_java_handle(jenv, $1, NULL);
}

/* ---- texts -------------------------------------------------------------------------------- */

%define MORTISE_JAVA_TEXT(POINTER, LENGTH)
%typemap(jni) (POINTER, LENGTH) "jbyteArray"
%typemap(jtype) (POINTER, LENGTH) "byte[]"
%typemap(jstype) (POINTER, LENGTH) "byte[]"
%typemap(javain) (POINTER, LENGTH) "$javainput"
%typemap(in) (POINTER, LENGTH) %{
  if (!$input) {
    mortise_error_free(error);
    SWIG_JavaThrowException(jenv, SWIG_JavaNullPointerException, #POINTER);
    return $null;
  }
  $1 = (char *)(*jenv)->GetByteArrayElements(jenv, $input, 0);
  if (!$1) {
    mortise_error_free(error);
    return $null;
  }
  $2 = (size_t)(*jenv)->GetArrayLength(jenv, $input);
%}
%typemap(freearg) (POINTER, LENGTH) %{
  (*jenv)->ReleaseByteArrayElements(jenv, $input, (jbyte *)$1, JNI_ABORT);
%}
%enddef
MORTISE_EACH_TEXT(MORTISE_JAVA_TEXT)

%typemap(jni) const char * "jbyteArray"
%typemap(jtype) const char * "byte[]"
%typemap(jstype) const char * "byte[]"
%typemap(javaout) const char * { return $jnicall; }
%typemap(out) const char * %{ $result = mortise_java_bytes(jenv, $1); %}

/* ---- events: a direct buffer of longs in native order, and how many records were written --- */
%typemap(jni) int64_t *records "jobject"
%typemap(jtype) int64_t *records "java.nio.ByteBuffer"
%typemap(jstype) int64_t *records "java.nio.ByteBuffer"
%typemap(javain) int64_t *records "$javainput"
%typemap(in) int64_t *records %{
  $1 = (int64_t *)(*jenv)->GetDirectBufferAddress(jenv, $input);
%}
%typemap(in, numinputs=0) int64_t *count (int64_t count) %{
  count = 0;
  $1 = &count;
%}
/* The number of records, or -(status) of an outcome such as MORTISE_SHUT_DOWN. */
%typemap(jni) mortise_status mortise_queue_next_batch "jlong"
%typemap(jtype) mortise_status mortise_queue_next_batch "long"
%typemap(jstype) mortise_status mortise_queue_next_batch "long"
%typemap(argout) int64_t *count %{ $result = result == MORTISE_OK ? (jlong)*$1 : -(jlong)result; %}
