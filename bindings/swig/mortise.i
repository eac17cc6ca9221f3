/*
 * The one description of the C ABI that Go, Java, Lua and Python share: a flat layer of functions that is
 * hidden behind each language's own library. `mortise_lock_try` is `lock_try` here, in the form
 * that the language's typemaps give to handles, names, errors and 64-bit numbers. The typemaps
 * match by type and parameter name, so a new function of mortise.h needs nothing in these files; a
 * new kind of handle needs one line in MORTISE_EACH_HANDLE.
 */
%module(jniclassname="MortiseNative") mortise

%{
#include <mortise/mortise.h>
%}

%include <stdint.i>

%rename("%(strip:[mortise_])s") "";
%rename("%(strip:[MORTISE_])s", %$isenumitem) "";
%rename("%(strip:[MORTISE_])s", %$isconstant) "";

/* For C programs only. */
%ignore mortise_api;
%ignore mortise_get_api;
%ignore MORTISE_MORTISE_H;
%ignore MORTISE_API;
%ignore MORTISE_NODISCARD;
%ignore MORTISE_NEVER_NULL;
%ignore MORTISE_VERSION_TEXT;
/* A constant of SWIG may be 32 bits wide; lua.i adds it. */
%ignore MORTISE_MAX_MS;
/* Languages with methods for them have the keys from `constants`; in Lua they are those of a table. */
%rename("$ignore", regextarget=1, fullname=1) "^MORTISE_OPTION_";

/* MORTISE_EACH_HANDLE(MACRO): MACRO(type) for every opaque type of the ABI but mortise_error. */
%define MORTISE_EACH_HANDLE(MACRO)
MACRO(mortise_options)
MACRO(mortise_client)
MACRO(mortise_lock)
MACRO(mortise_rw)
MACRO(mortise_semaphore)
MACRO(mortise_election)
MACRO(mortise_multi)
MACRO(mortise_queue)
MACRO(mortise_event)
MACRO(mortise_info)
MACRO(mortise_health)
MACRO(mortise_stats)
MACRO(mortise_listing)
MACRO(mortise_hold_id)
%enddef

/* MORTISE_EACH_TEXT(MACRO): MACRO(pointer, length) for every string parameter of the ABI. */
%define MORTISE_EACH_TEXT(MACRO)
MACRO(const char *name, size_t name_len)
MACRO(const char *url, size_t url_len)
MACRO(const char *key, size_t key_len)
MACRO(const char *value, size_t value_len)
MACRO(const char *label, size_t label_len)
MACRO(const char *protocol, size_t protocol_len)
MACRO(const char *owner, size_t owner_len)
MACRO(const char *user, size_t user_len)
MACRO(const char *password, size_t password_len)
MACRO(const char *pattern, size_t pattern_len)
MACRO(const char *id, size_t id_len)
%enddef

#if defined(SWIGGO)
%include "go.i"
#elif defined(SWIGJAVA)
%include "java.i"
#elif defined(SWIGLUA)
%include "lua.i"
#elif defined(SWIGPYTHON)
%include "python.i"
#endif

#if defined(SWIGGO) || defined(SWIGJAVA)
%inline %{
#include <time.h>

/* CLOCK_BOOTTIME in nanoseconds, the clock of deadlines, which these languages do not have. */
static int64_t mortise_boot_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
%}
#endif

%include "mortise/mortise.h"
