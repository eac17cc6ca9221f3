/*
 * Lua 5.1 to 5.4 and LuaJIT; one generated file compiles for all of them. A function gives its
 * value. One that returns a status gives true on MORTISE_OK and else nil, message, code, and for an
 * error also a table with its details; one that returns a handle gives that, or the same.
 * Arguments of a wrong type, and handles that were freed, count as MORTISE_INVALID_ARGUMENT.
 * Nothing is raised here, because only the library in Lua above knows whose line to blame.
 */

/* Our types are nobody else's: other libraries in the same state may be made with SWIG, too. */
%begin %{
#define SWIG_TYPE_TABLE mortise
%}

%{
#include <math.h>
#include <pthread.h>
#include <time.h>

/* ---- setup -------------------------------------------------------------------------------- */
/* SWIG's tables of types are shared by all Lua states of the process and are filled when the first
   of them loads the module, so states in several threads do that one after the other. What can
   raise, e.g. for want of memory, does so under a pcall. */
#undef SWIG_init
#define SWIG_init mortise_lua_open
static int SWIG_init(lua_State *L);
SWIGEXPORT int luaopen_mortise_core(lua_State *L);

int luaopen_mortise_core(lua_State *L) {
  static pthread_mutex_t setup = PTHREAD_MUTEX_INITIALIZER;
  int failed;
  lua_pushcfunction(L, SWIG_init);
  pthread_mutex_lock(&setup);
  failed = lua_pcall(L, 0, 1, 0);
  pthread_mutex_unlock(&setup);
  return failed ? lua_error(L) : 1;
}

/* Below 2^53 every integer is exact in a double, which is all that Lua 5.1 has for a number. */
#define MORTISE_LUA_EXACT 9007199254740992.0

static void mortise_lua_push_integer(lua_State *L, int64_t value) {
#if LUA_VERSION_NUM >= 503
  lua_pushinteger(L, (lua_Integer)value);
#else
  lua_pushnumber(L, (lua_Number)value);
#endif
}

/* ---- errors ------------------------------------------------------------------------------- */
/* One error object for each Lua state: a state is used by one thread at a time. */
static char mortise_lua_error_key;

static int mortise_lua_error_free(lua_State *L) {
  mortise_error **slot = (mortise_error **)lua_touserdata(L, 1);
  mortise_error_free(*slot);
  *slot = NULL; /* A finalizer that runs later, while the state closes, goes without details. */
  return 0;
}

static mortise_error *mortise_lua_error(lua_State *L) {
  mortise_error **slot;
  lua_pushlightuserdata(L, &mortise_lua_error_key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  slot = (mortise_error **)lua_touserdata(L, -1);
  lua_pop(L, 1);
  return slot ? *slot : NULL;
}

static void mortise_lua_error_init(lua_State *L) {
  mortise_error **slot;
  lua_pushlightuserdata(L, &mortise_lua_error_key);
  slot = (mortise_error **)lua_newuserdata(L, sizeof *slot);
  *slot = NULL;
  lua_newtable(L);
  lua_pushcfunction(L, mortise_lua_error_free);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  *slot = mortise_error_new();
  lua_rawset(L, LUA_REGISTRYINDEX);
}

static void mortise_lua_push_details(lua_State *L, const mortise_error *error) {
  size_t length = 0;
  const char *name = mortise_error_lock_name(error, &length);
  lua_createtable(L, 0, 5);
  if (length > 0) {
    lua_pushlstring(L, name, length);
    lua_setfield(L, -2, "lock_name");
  }
  mortise_lua_push_integer(L, mortise_error_reason(error));
  lua_setfield(L, -2, "reason");
  lua_pushstring(L, mortise_error_server_text(error));
  lua_setfield(L, -2, "server_text");
  lua_pushboolean(L, mortise_error_is_retryable(error));
  lua_setfield(L, -2, "is_retryable");
  lua_pushboolean(L, mortise_error_is_ambiguous(error));
  lua_setfield(L, -2, "is_ambiguous");
}

static int mortise_lua_fail(lua_State *L, mortise_status status, const mortise_error *error) {
  const char *message = error ? mortise_error_message(error) : "";
  lua_pushnil(L);
  lua_pushstring(L, *message ? message : mortise_status_text(status));
  mortise_lua_push_integer(L, status);
  if ((status > 0 && status != MORTISE_LOST) || !error) return 3;
  mortise_lua_push_details(L, error);
  return 4;
}

static int mortise_lua_misuse(lua_State *L, const char *argument, const char *wanted, int index) {
  const char *given = lua_type(L, index) == LUA_TNUMBER ? lua_tostring(L, index)
                                                        : luaL_typename(L, index);
  lua_pushnil(L);
  lua_pushfstring(L, "%s has to be %s, not %s", argument, wanted, given);
  mortise_lua_push_integer(L, MORTISE_INVALID_ARGUMENT);
  return 3;
}

static int mortise_lua_status(lua_State *L, mortise_status status, const mortise_error *error) {
  if (status != MORTISE_OK) return mortise_lua_fail(L, status, error);
  lua_pushboolean(L, 1);
  return 1;
}

static int mortise_lua_surplus(lua_State *L, int most) {
  const int surplus = lua_gettop(L) - most;
  lua_pushnil(L);
  lua_pushfstring(L, "%d %s too many", surplus, surplus == 1 ? "argument" : "arguments");
  mortise_lua_push_integer(L, MORTISE_INVALID_ARGUMENT);
  return 3;
}

/* SWIG itself would raise an error. What is left out is nil, as ever in Lua. */
#undef SWIG_check_num_args
#define SWIG_check_num_args(function, least, most)                      \
  if (lua_gettop(L) > (most)) return mortise_lua_surplus(L, (most));    \
  lua_settop(L, (most));

/* ---- arguments: each gives 0, or the number of results that say what is wrong ------------- */
static int mortise_lua_integer(lua_State *L, int index, const char *argument, int64_t *value) {
  const lua_Number number = lua_type(L, index) == LUA_TNUMBER ? lua_tonumber(L, index) : 0.5;
#if LUA_VERSION_NUM >= 503
  if (lua_isinteger(L, index)) {
    *value = (int64_t)lua_tointeger(L, index);
    return 0;
  }
#endif
  /* In this order, because a NaN is unequal to itself. */
  if (!(floor(number) == number && fabs(number) <= MORTISE_LUA_EXACT)) {
    return mortise_lua_misuse(L, argument, "an integer up to 2^53", index);
  }
  *value = (int64_t)number;
  return 0;
}

/* For ever is nil or infinity, which is mortise.FOREVER here. */
static int mortise_lua_timeout(lua_State *L, int index, const char *argument, int64_t *value) {
  int wrong;
  *value = MORTISE_FOREVER;
  if (lua_isnil(L, index)) return 0;
  if (lua_type(L, index) == LUA_TNUMBER && lua_tonumber(L, index) == HUGE_VAL) return 0;
  wrong = mortise_lua_integer(L, index, argument, value);
  if (wrong == 0 && *value < 0) {
    return mortise_lua_misuse(L, argument, "at least 0, or mortise.FOREVER", index);
  }
  return wrong;
}

static int mortise_lua_text(lua_State *L, int index, const char *argument, char **text,
                            size_t *length) {
  if (lua_type(L, index) != LUA_TSTRING) {
    return mortise_lua_misuse(L, argument, "a string", index);
  }
  *text = (char *)lua_tolstring(L, index, length);
  return 0;
}

/* SWIG itself would take the userdata of any other library for one of its own. Large enough, which a
   light one never is, and with our type in its first field, it is ours; this costs less than a look
   at its metatable. */
static swig_lua_userdata *mortise_lua_own(lua_State *L, int index, const swig_type_info *type) {
  swig_lua_userdata *userdata = (swig_lua_userdata *)lua_touserdata(L, index);
  if (userdata == NULL || lua_rawlen(L, index) < sizeof *userdata) return NULL;
  return userdata->type == type ? userdata : NULL;
}

/* Where a function frees the handle, it is taken out of its userdata: whoever uses that again is
   told so, instead of reaching freed memory. */
static int mortise_lua_handle(lua_State *L, int index, const char *argument, swig_type_info *type,
                              int is_taken, void **handle) {
  swig_lua_userdata *userdata = mortise_lua_own(L, index, type);
  if (userdata == NULL) {
    const char *wanted = lua_pushfstring(L, "of type %s", type->name + sizeof "_p_mortise");
    return mortise_lua_misuse(L, argument, wanted, index);
  }
  *handle = userdata->ptr;
  if (*handle == NULL) {
    lua_pushnil(L);
    lua_pushfstring(L, "this %s is closed", type->name + sizeof "_p_mortise");
    mortise_lua_push_integer(L, MORTISE_INVALID_ARGUMENT);
    return 3;
  }
  if (is_taken) {
    userdata->ptr = NULL;
    userdata->own = 0;
  }
  return 0;
}

static int mortise_lua_new(lua_State *L, void *handle, const mortise_error *error,
                           swig_type_info *type) {
  if (handle == NULL) {
    return mortise_lua_fail(L, error ? mortise_error_status(error) : MORTISE_NO_MEMORY, error);
  }
  SWIG_NewPointerObj(L, handle, type, 1);
  return 1;
}
%}

%init %{
  mortise_lua_error_init(L);
  mortise_lua_push_integer(L, MORTISE_MAX_MS);
  lua_setfield(L, -2, "MAX_MS");
%}

/* ---- numbers ------------------------------------------------------------------------------ */
%typemap(in, noblock=1) int64_t (int wrong) {
  if ((wrong = mortise_lua_integer(L, $input, "$1_name", &$1)) != 0) return wrong;
}
%typemap(in, noblock=1) int32_t (int wrong, int64_t wide) {
  if ((wrong = mortise_lua_integer(L, $input, "$1_name", &wide)) != 0) return wrong;
  $1 = (int32_t)wide;
  if ($1 != wide) return mortise_lua_misuse(L, "$1_name", "an integer of 32 bits", $input);
}
%typemap(out, noblock=1) int64_t, mortise_kind, mortise_reason, mortise_severity,
                         mortise_log_level, mortise_log_subject, int32_t mortise_version, int32_t mortise_queue_fd {
  mortise_lua_push_integer(L, $1);
  SWIG_arg++;
}
/* Every other int32_t says whether something is so. */
%typemap(out, noblock=1) int32_t {
  lua_pushboolean(L, $1);
  SWIG_arg++;
}

%typemap(in, noblock=1) int32_t is_on {
  if (!lua_isboolean(L, $input)) return mortise_lua_misuse(L, "$1_name", "a boolean", $input);
  $1 = lua_toboolean(L, $input);
}

/* What is left out, or nil, has a meaning. */
%define MORTISE_LUA_DEFAULT(NAME, VALUE)
%typemap(default, noblock=1) int64_t NAME { $1 = VALUE; }
%typemap(in, noblock=1) int64_t NAME (int wrong) {
  if (!lua_isnil(L, $input) &&
      (wrong = mortise_lua_integer(L, $input, "$1_name", &$1)) != 0) return wrong;
}
%enddef
MORTISE_LUA_DEFAULT(lease_ms, 0)
MORTISE_LUA_DEFAULT(permits, 1)
MORTISE_LUA_DEFAULT(capacity, 0)

/* A negative number is a mistake, such as a deadline that has passed. */
%typemap(default, noblock=1) int64_t timeout_ms { $1 = MORTISE_FOREVER; }
%typemap(in, noblock=1) int64_t timeout_ms (int wrong) {
  if ((wrong = mortise_lua_timeout(L, $input, "$1_name", &$1)) != 0) return wrong;
}

/* ---- texts -------------------------------------------------------------------------------- */
%define MORTISE_LUA_TEXT(POINTER, LENGTH)
%typemap(in, noblock=1) (POINTER, LENGTH) (int wrong) {
  if ((wrong = mortise_lua_text(L, $input, "$1_name", &$1, &$2)) != 0) return wrong;
}
%enddef
MORTISE_EACH_TEXT(MORTISE_LUA_TEXT)
/* Without one it is that of the environment. */
%typemap(in, noblock=1) (const char *url, size_t url_len) (int wrong) {
  $1 = NULL;
  $2 = 0;
  if (!lua_isnil(L, $input) &&
      (wrong = mortise_lua_text(L, $input, "$1_name", &$1, &$2)) != 0) return wrong;
}

/* A name may have a NUL in it. */
%typemap(in, numinputs=0, noblock=1) size_t *name_len {
  size_t name_length = 0;
  $1 = &name_length;
}
%typemap(out, noblock=1) const char *mortise_lock_name, const char *mortise_rw_name,
                         const char *mortise_semaphore_name,
                         const char *mortise_election_name,
                         const char *mortise_event_lock_name {
  lua_pushlstring(L, $1, name_length);
  SWIG_arg++;
}

/* ---- errors and statuses ------------------------------------------------------------------ */
%typemap(in, numinputs=0, noblock=1) mortise_error *error {
  mortise_error *error = mortise_lua_error(L);
  $1 = error;
}
%typemap(out, noblock=1) mortise_status { SWIG_arg += mortise_lua_status(L, $1, error); }
%typemap(out, noblock=1) mortise_status mortise_check_abi {
  SWIG_arg += mortise_lua_status(L, $1, NULL);
}
/* These two are statuses as values, not outcomes of the call. */
%typemap(in, noblock=1) mortise_status status = int32_t;
%typemap(out, noblock=1) mortise_status mortise_event_status = int64_t;
/* The error never leaves the call. */
%rename("$ignore", regextarget=1, fullname=1) "^mortise_error_";

/* ---- handles ------------------------------------------------------------------------------ */
%nodefaultctor;
%define MORTISE_LUA_HANDLE(TYPE)
%typemap(in, noblock=1) TYPE * (int wrong, void *handle = NULL) {
  wrong = mortise_lua_handle(L, $input, "$1_name", $1_descriptor, $disown, &handle);
  if (wrong != 0) return wrong;
  $1 = ($1_ltype)handle;
}
%typemap(in, noblock=1) const TYPE * = TYPE *;
%typemap(out, noblock=1) TYPE * {
  SWIG_arg += mortise_lua_new(L, $1, error, $1_descriptor);
}
%delobject TYPE ## _free;
/* A collected handle frees itself, unless it was freed before. */
struct TYPE {
  %extend {
    ~TYPE() { TYPE ## _free($self); }
  }
};
%enddef
MORTISE_EACH_HANDLE(MORTISE_LUA_HANDLE)

/* Where the C library has a meaning for NULL, nil is that. */
%typemap(default, noblock=1) const mortise_options *options { $1 = NULL; }
%typemap(in, noblock=1) mortise_queue *queue (int wrong, void *handle = NULL) {
  wrong = lua_isnil(L, $input)
              ? 0
              : mortise_lua_handle(L, $input, "$1_name", $1_descriptor, $disown, &handle);
  if (wrong != 0) return wrong;
  $1 = ($1_ltype)handle;
}
%typemap(in, noblock=1) const mortise_options *options = mortise_queue *queue;

/* Only memory can be missing here. */
%define MORTISE_LUA_PLAIN_NEW(TYPE)
%typemap(out, noblock=1) TYPE *TYPE ## _new {
  SWIG_arg += mortise_lua_new(L, $1, NULL, $1_descriptor);
}
%enddef
MORTISE_LUA_PLAIN_NEW(mortise_options)
MORTISE_LUA_PLAIN_NEW(mortise_event)
MORTISE_LUA_PLAIN_NEW(mortise_info)

/* Events are read one by one, with their messages. */
%ignore mortise_queue_next_batch;
%ignore MORTISE_RECORD_FIELDS;

%inline %{
/* A millisecond between two tries of an unlock. Lua itself cannot sleep. */
static void mortise_pause(void) {
  const struct timespec pause = {0, 1000000};
  nanosleep(&pause, NULL);
}
%}
