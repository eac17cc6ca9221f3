/*
 * Python 3.9 and later. The limited API makes one compiled file serve all versions. A function
 * returns its value, or raises what the callable of `set_failure` makes of the status and the
 * details. A handle is a capsule, which frees its object when it is collected or closed and no call
 * uses it. Any function with the parameter `error` may wait, so it runs without the GIL.
 */
%begin %{
#define Py_LIMITED_API 0x03090000
/* Other libraries in the same process may also be made with SWIG. */
#define SWIG_TYPE_TABLE mortise
%}

%{
#include <string.h>

/* ---- errors ------------------------------------------------------------------------------- */
/* All of this is guarded by the GIL. */
static PyObject *mortise_python_failure;
static mortise_error *mortise_python_spare_error;

static mortise_error *mortise_python_take_error(void) {
  mortise_error *error = mortise_python_spare_error;
  mortise_python_spare_error = NULL;
  return error ? error : mortise_error_new();
}

static void mortise_python_give_error(mortise_error *error) {
  if (mortise_python_spare_error == NULL) {
    mortise_python_spare_error = error;
  } else {
    mortise_error_free(error);
  }
}

/* What a server sends may be no UTF-8. */
static PyObject *mortise_python_text(const char *text) {
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

/* The details of a failure, as the callable of `set_failure` receives them after the status. */
static PyObject *mortise_python_details(const mortise_error *error) {
  size_t length = 0;
  const char *name = mortise_error_lock_name(error, &length);
  return Py_BuildValue("(Ny#iNii)", mortise_python_text(mortise_error_message(error)), name,
                       (Py_ssize_t)length, (int)mortise_error_reason(error),
                       mortise_python_text(mortise_error_server_text(error)),
                       (int)mortise_error_is_retryable(error),
                       (int)mortise_error_is_ambiguous(error));
}

static void mortise_python_raise(mortise_status status, const mortise_error *error) {
  PyObject *details = mortise_python_details(error);
  PyObject *failure = NULL;
  if (details != NULL && mortise_python_failure != NULL) {
    failure = PyObject_CallFunction(mortise_python_failure, "iO", (int)status, details);
  }
  Py_XDECREF(details);
  if (failure != NULL) {
    PyErr_SetObject((PyObject *)Py_TYPE(failure), failure);
    Py_DECREF(failure);
  } else if (!PyErr_Occurred()) {
    PyErr_SetString(PyExc_RuntimeError, mortise_status_text(status));
  }
}

/* ---- handles ------------------------------------------------------------------------------ */
/* A call on a freed object would use freed memory. So the last user frees it. */
typedef struct {
  void *object;
  void (*free)(void *object);
  int64_t grants;       /* how many calls have acquired */
  unsigned long thread; /* the one that made the latest of these calls */
  int users;
  int is_closed;
} mortise_python_handle;

static void mortise_python_end(mortise_python_handle *handle) {
  void *object = handle->object;
  if (object == NULL || !handle->is_closed || handle->users > 0) return;
  handle->object = NULL;
  /* A client sends its releases. */
  Py_BEGIN_ALLOW_THREADS
  handle->free(object);
  Py_END_ALLOW_THREADS
}

static void mortise_python_collect(PyObject *capsule) {
  mortise_python_handle *handle =
      (mortise_python_handle *)PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule));
  handle->is_closed = 1;
  mortise_python_end(handle);
  PyMem_Free(handle);
}

static PyObject *mortise_python_new(void *object, const char *type, void (*free)(void *object)) {
  mortise_python_handle *handle = (mortise_python_handle *)PyMem_Calloc(1, sizeof *handle);
  PyObject *capsule = handle ? PyCapsule_New(handle, type, mortise_python_collect) : NULL;
  if (capsule != NULL) {
    handle->object = object;
    handle->free = free;
    return capsule;
  }
  PyMem_Free(handle);
  free(object);
  return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

/* The handle, to be used until `mortise_python_leave`, or NULL with an exception. */
static mortise_python_handle *mortise_python_enter(PyObject *capsule, const char *type) {
  mortise_python_handle *handle =
      (mortise_python_handle *)PyCapsule_GetPointer(capsule, type);
  if (handle == NULL) return NULL;
  if (handle->is_closed) {
    PyObject *failure = NULL;
    if (mortise_python_failure != NULL) {
      failure = PyObject_CallFunction(mortise_python_failure, "is", (int)MORTISE_CLOSED,
                                      type + sizeof "mortise_" - 1);
    }
    if (failure != NULL) PyErr_SetObject((PyObject *)Py_TYPE(failure), failure);
    Py_XDECREF(failure);
    return NULL;
  }
  ++handle->users;
  return handle;
}

static void mortise_python_leave(mortise_python_handle *handle) {
  if (handle == NULL) return;
  --handle->users;
  mortise_python_end(handle);
}

static void mortise_python_grant(mortise_python_handle *handle) {
  ++handle->grants;
  handle->thread = PyThread_get_thread_ident();
}

static mortise_python_handle *mortise_python_any(PyObject *capsule) {
  if (!PyCapsule_CheckExact(capsule)) {
    PyErr_SetString(PyExc_TypeError, "handle: give a handle of this module");
    return NULL;
  }
  return (mortise_python_handle *)PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule));
}

/* ---- texts -------------------------------------------------------------------------------- */
/* A new reference to the bytes of a text, or NULL with an exception. */
static PyObject *mortise_python_bytes(PyObject *text, const char *argument) {
  if (PyUnicode_Check(text)) return PyUnicode_AsUTF8String(text);
  if (PyBytes_Check(text)) {
    Py_INCREF(text);
    return text;
  }
  PyErr_Format(PyExc_TypeError, "%s: give str or bytes", argument);
  return NULL;
}

/* ---- events ------------------------------------------------------------------------------- */
static PyObject *mortise_python_event_details(const mortise_event *event) {
  size_t length = 0;
  const char *name;
  const mortise_status status = mortise_event_status(event);
  const mortise_reason reason = mortise_event_reason(event);
  if (status == MORTISE_OK && reason == MORTISE_REASON_NONE &&
      mortise_event_kind(event) != MORTISE_EVENT_LOG &&
      mortise_event_kind(event) != MORTISE_EVENT_CONTENDED) {
    Py_INCREF(Py_None);
    return Py_None;
  }
  name = mortise_event_lock_name(event, &length);
  return Py_BuildValue(
      "(Ny#iNiiiiL)", mortise_python_text(mortise_event_message(event)), name, (Py_ssize_t)length,
      (int)reason, mortise_python_text(mortise_event_server_text(event)),
      (int)mortise_event_is_retryable(event), (int)mortise_event_is_ambiguous(event),
      (int)mortise_event_log_level(event), (int)mortise_event_log_subject(event),
      (long long)mortise_event_dropped_records(event));
}

/* The leader of an observed election, as an info. */
static void mortise_python_free_leader(void *info) { mortise_info_free((mortise_info *)info); }

static PyObject *mortise_python_leader(const mortise_event *event) {
  mortise_info *info = mortise_info_new();
  if (mortise_event_leader(event, info, NULL) != MORTISE_OK) {
    mortise_info_free(info);
    return PyErr_NoMemory();
  }
  return mortise_python_new(info, "mortise_info", mortise_python_free_leader);
}

static int mortise_python_append(PyObject *list, const mortise_event *event) {
  int failed;
  const mortise_kind kind = mortise_event_kind(event);
  const int has_leader = kind == MORTISE_EVENT_LEADER || kind == MORTISE_EVENT_NO_LEADER;
  PyObject *details =
      has_leader ? mortise_python_leader(event) : mortise_python_event_details(event);
  PyObject *record =
      details ? Py_BuildValue("(iLiLLN)", (int)mortise_event_kind(event),
                              (long long)mortise_event_tag(event), (int)mortise_event_status(event),
                              (long long)mortise_event_token(event),
                              (long long)mortise_event_hold_number(event), details)
              : NULL;
  if (record == NULL) return -1;
  failed = PyList_Append(list, record);
  Py_DECREF(record);
  return failed;
}
%}

/* ---- errors and statuses ------------------------------------------------------------------ */
%typemap(in, numinputs=0, noblock=1) mortise_error *error {
  mortise_error *error = mortise_python_take_error();
  PyThreadState *thread = NULL;
  $1 = error;
}
/* After all arguments have been read. */
%typemap(check, noblock=1) mortise_error *error { thread = PyEval_SaveThread(); }
%typemap(freearg, noblock=1) mortise_error *error { mortise_python_give_error($1); }
%typemap(out, noblock=1) mortise_status {
  PyEval_RestoreThread(thread);
  if ($1 != MORTISE_OK) {
    mortise_python_raise($1, error);
    SWIG_fail;
  }
  $result = SWIG_Py_Void();
}
%typemap(out, noblock=1) mortise_status mortise_check_abi { $result = PyLong_FromLong($1); }

/* A signal's handler can raise between a grant and its return to Python. So grants are counted. */
%define MORTISE_PYTHON_GRANTS(FUNCTION)
%typemap(out, noblock=1) mortise_status FUNCTION {
  PyEval_RestoreThread(thread);
  if ($1 != MORTISE_OK) {
    mortise_python_raise($1, error);
    SWIG_fail;
  }
  mortise_python_grant(handle1);
  $result = SWIG_Py_Void();
}
%enddef
MORTISE_PYTHON_GRANTS(mortise_lock_try)
MORTISE_PYTHON_GRANTS(mortise_lock_acquire)
MORTISE_PYTHON_GRANTS(mortise_lock_adopt)
MORTISE_PYTHON_GRANTS(mortise_rw_adopt)
MORTISE_PYTHON_GRANTS(mortise_semaphore_adopt)
MORTISE_PYTHON_GRANTS(mortise_rw_read_try)
MORTISE_PYTHON_GRANTS(mortise_rw_read_acquire)
MORTISE_PYTHON_GRANTS(mortise_rw_write_try)
MORTISE_PYTHON_GRANTS(mortise_rw_write_acquire)
MORTISE_PYTHON_GRANTS(mortise_semaphore_try)
MORTISE_PYTHON_GRANTS(mortise_semaphore_acquire)
MORTISE_PYTHON_GRANTS(mortise_election_campaign)
MORTISE_PYTHON_GRANTS(mortise_multi_try)
MORTISE_PYTHON_GRANTS(mortise_multi_acquire)

/* ---- numbers ------------------------------------------------------------------------------ */
%typemap(out, noblock=1) int64_t { $result = PyLong_FromLongLong($1); }
%typemap(out, noblock=1) mortise_severity, int32_t mortise_version, int32_t mortise_queue_fd {
  $result = PyLong_FromLong($1);
}
/* Every other int32_t is a boolean. */
%typemap(out, noblock=1) int32_t { $result = PyBool_FromLong($1); }

/* ---- texts -------------------------------------------------------------------------------- */
%define MORTISE_PYTHON_TEXT(POINTER, LENGTH)
%typemap(in, noblock=1) (POINTER, LENGTH) (PyObject *bytes = NULL) {
  bytes = mortise_python_bytes($input, "$1_name");
  if (bytes == NULL) SWIG_fail;
  $1 = PyBytes_AsString(bytes);
  $2 = (size_t)PyBytes_Size(bytes);
}
%typemap(freearg, noblock=1) (POINTER, LENGTH) { Py_XDECREF(bytes$argnum); }
%enddef
MORTISE_EACH_TEXT(MORTISE_PYTHON_TEXT)
/* Without one it is that of the environment. */
%typemap(in, noblock=1) (const char *url, size_t url_len) (PyObject *bytes = NULL) {
  if ($input != Py_None) {
    bytes = mortise_python_bytes($input, "$1_name");
    if (bytes == NULL) SWIG_fail;
    $1 = PyBytes_AsString(bytes);
    $2 = (size_t)PyBytes_Size(bytes);
  } else {
    $1 = NULL;
    $2 = 0;
  }
}

/* ---- handles ------------------------------------------------------------------------------ */
%define MORTISE_PYTHON_HANDLE(TYPE)
%insert("header") {
__attribute__((unused)) static void mortise_python_free_ ## TYPE(void *object) {
  TYPE ## _free((TYPE *)object);
}
}
%typemap(in, noblock=1) TYPE * (mortise_python_handle *handle = NULL) {
  handle = mortise_python_enter($input, "$1_basetype");
  if (handle == NULL) SWIG_fail;
  $1 = ($1_ltype)handle->object;
}
%typemap(in, noblock=1) const TYPE * = TYPE *;
%typemap(freearg, noblock=1) TYPE * { mortise_python_leave(handle$argnum); }
%typemap(freearg, noblock=1) const TYPE * = TYPE *;
%typemap(out, noblock=1) TYPE * {
  PyEval_RestoreThread(thread);
  if ($1 == NULL) {
    mortise_python_raise(error ? mortise_error_status(error) : MORTISE_NO_MEMORY, error);
    SWIG_fail;
  }
  $result = mortise_python_new($1, "$1_basetype", mortise_python_free_$1_basetype);
}
%enddef
MORTISE_EACH_HANDLE(MORTISE_PYTHON_HANDLE)

/* Only memory can be missing here. */
%define MORTISE_PYTHON_PLAIN_NEW(TYPE)
%typemap(out, noblock=1) TYPE *TYPE ## _new {
  if ($1 == NULL) {
    PyErr_NoMemory();
    SWIG_fail;
  }
  $result = mortise_python_new($1, "$1_basetype", mortise_python_free_$1_basetype);
}
%enddef
MORTISE_PYTHON_PLAIN_NEW(mortise_options)
MORTISE_PYTHON_PLAIN_NEW(mortise_info)

/* Where the C library has a meaning for NULL, None is that. */
%typemap(in, noblock=1) mortise_queue *queue (mortise_python_handle *handle = NULL) {
  if ($input != Py_None) {
    handle = mortise_python_enter($input, "$1_basetype");
    if (handle == NULL) SWIG_fail;
    $1 = ($1_ltype)handle->object;
  }
}
%typemap(in, noblock=1) const mortise_options *options = mortise_queue *queue;

/* ---- interpreters ------------------------------------------------------------------------- */
/* Signals, the daemon threads, and the global variables above belong to the main interpreter. */
%init %{
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    PyErr_SetString(PyExc_ImportError,
                    "mortise needs the main interpreter of a process; for mod_wsgi set "
                    "WSGIApplicationGroup %{GLOBAL}");
    return -1;
  }
%}

/* ---- what Python does not need ------------------------------------------------------------ */
/* The module `constants` has them. */
%rename("$ignore", %$isenumitem) "";
%rename("$ignore", %$isconstant) "";
%rename("$ignore", regextarget=1, fullname=1) "^mortise_(error|event)_";
%rename("$ignore", regextarget=1, fullname=1) "^mortise_[a-z_]+_free$";
%rename("$ignore", regextarget=1, fullname=1) "^mortise_options_set_";
/* An object in Python knows its name. */
%rename("$ignore", regextarget=1, fullname=1) "^mortise_(lock|rw|semaphore|election|hold_id)_name$";
/* `next_events` reads the queue. */
%ignore mortise_queue_next;
%ignore mortise_queue_next_batch;

%inline %{
/* Sets what makes an exception of a status and its details, or of MORTISE_CLOSED and a kind. */
static void mortise_set_failure(PyObject *make) {
  Py_INCREF(make);
  Py_XDECREF(mortise_python_failure);
  mortise_python_failure = make;
}

/* From now on no call uses this handle. Returns whether its object is freed. Otherwise the last call
   that uses it frees it. */
static PyObject *mortise_close(PyObject *capsule) {
  mortise_python_handle *handle = mortise_python_any(capsule);
  if (handle == NULL) return NULL;
  handle->is_closed = 1;
  mortise_python_end(handle);
  return PyBool_FromLong(handle->object == NULL);
}

/* How many calls have acquired with this handle, or 0 if another thread made the latest of them. */
static PyObject *mortise_grants(PyObject *capsule) {
  mortise_python_handle *handle = mortise_python_any(capsule);
  if (handle == NULL) return NULL;
  return PyLong_FromLongLong(handle->thread == PyThread_get_thread_ident() ? handle->grants : 0);
}

/* A list of at most so many events, as (kind, tag, status, token, hold number, details or None). The
   details of an observed election are an info.
   It waits for the first. None after the end of the queue. */
static PyObject *mortise_next_events(mortise_queue *queue, int64_t timeout_ms, int64_t most) {
  mortise_status status = MORTISE_OK;
  mortise_event *event = mortise_event_new();
  PyObject *events = event ? PyList_New(0) : PyErr_NoMemory();
  while (events != NULL && PyList_Size(events) < most) {
    const int64_t wait_ms = PyList_Size(events) == 0 ? timeout_ms : 0;
    if (wait_ms == 0) {
      status = mortise_queue_next(queue, 0, event, NULL);
    } else {
      Py_BEGIN_ALLOW_THREADS
      status = mortise_queue_next(queue, wait_ms, event, NULL);
      Py_END_ALLOW_THREADS
    }
    if (status != MORTISE_OK) break;
    if (mortise_python_append(events, event) != 0) {
      Py_DECREF(events);
      events = NULL;
    }
  }
  mortise_event_free(event);
  if (events != NULL && PyList_Size(events) == 0 && status != MORTISE_OK &&
      status != MORTISE_TIMED_OUT) {
    Py_DECREF(events);
    return SWIG_Py_Void();
  }
  return events;
}
%}
