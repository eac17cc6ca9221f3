/*
 * Lua 5.1 to 5.4 and LuaJIT. A function gives its value. One that returns a status gives true on
 * MORTISE_OK and else nil, message, code; one that returns a handle gives that, or the same three. A wrong type, or a
 * handle that was freed, raises an error. One generated file compiles for all of them.
 */

%{
#include <inttypes.h>
#include <math.h>

/* Below 2^53 every integer is exact in a double, which is all that Lua 5.1 has for a number. */
#define MORTISE_LUA_EXACT ((lua_Number)INT64_C(9007199254740992))

static void mortise_lua_push_integer(lua_State *L, int64_t value) {
#if LUA_VERSION_NUM >= 503
  lua_pushinteger(L, (lua_Integer)value);
#else
  lua_pushnumber(L, (lua_Number)value);
#endif
}

static int64_t mortise_lua_to_integer(lua_State *L, int index, const char *function) {
  const lua_Number number = lua_type(L, index) == LUA_TNUMBER ? lua_tonumber(L, index) : 0.5;
#if LUA_VERSION_NUM >= 503
  if (lua_isinteger(L, index)) return (int64_t)lua_tointeger(L, index);
#endif
  if (floor(number) != number || fabs(number) > MORTISE_LUA_EXACT) {
    luaL_error(L, "%s: argument %d has to be an integer, not %s", function, index,
               lua_type(L, index) == LUA_TNUMBER ? "a fraction, or a number beyond 2^53"
                                                 : luaL_typename(L, index));
  }
  return (int64_t)number;
}

/* Where a function frees the handle, it is taken out of its userdata: whoever uses that again gets
   an error, not freed memory. */
static void *mortise_lua_handle(lua_State *L, int index, swig_type_info *type,
                                const char *function, int is_taken) {
  swig_lua_userdata *userdata = (swig_lua_userdata *)lua_touserdata(L, index);
  void *handle = NULL;
  if (lua_type(L, index) != LUA_TUSERDATA || SWIG_ConvertPtr(L, index, &handle, type, 0) < 0) {
    luaL_error(L, "%s: argument %d has to be a %s, not %s", function, index, type->name + 3,
               SWIG_Lua_typename(L, index));
  }
  if (handle == NULL) luaL_error(L, "%s: the handle is closed", function);
  if (is_taken) {
    userdata->ptr = NULL;
    userdata->own = 0;
  }
  return handle;
}

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

static int mortise_lua_fail(lua_State *L, mortise_status status, const char *message) {
  lua_pushnil(L);
  lua_pushstring(L, message && *message ? message : mortise_status_text(status));
  lua_pushinteger(L, status);
  return 3;
}

static int mortise_lua_status(lua_State *L, mortise_status status, const mortise_error *error) {
  if (status != MORTISE_OK) return mortise_lua_fail(L, status, mortise_error_message(error));
  lua_pushboolean(L, 1);
  return 1;
}

/* An accepted call may leave an old error in place, so only a missing handle asks for it. */
static int mortise_lua_new(lua_State *L, void *handle, const mortise_error *error,
                           swig_type_info *type) {
  if (handle == NULL) {
    const mortise_status status = error ? mortise_error_code(error) : MORTISE_NO_MEMORY;
    return mortise_lua_fail(L, status, error ? mortise_error_message(error) : NULL);
  }
  SWIG_NewPointerObj(L, handle, type, 1);
  return 1;
}
%}

%init %{
  mortise_lua_error_init(L);
%}

/* ---- numbers ------------------------------------------------------------------------------ */
%typemap(in, noblock=1) int64_t { $1 = mortise_lua_to_integer(L, $input, "$symname"); }
%typemap(in, noblock=1) int32_t { $1 = (int32_t)mortise_lua_to_integer(L, $input, "$symname"); }
%typemap(out, noblock=1) int64_t, int32_t { mortise_lua_push_integer(L, $1); SWIG_arg++; }

/* ---- texts -------------------------------------------------------------------------------- */
%define MORTISE_LUA_TEXT(POINTER, LENGTH)
%typemap(in, noblock=1) (POINTER, LENGTH) {
  if (lua_type(L, $input) != LUA_TSTRING) {
    luaL_error(L, "$symname: argument %d has to be a string, not %s", $input,
               luaL_typename(L, $input));
  }
  $1 = ($1_ltype)lua_tolstring(L, $input, &$2);
}
%enddef
MORTISE_EACH_TEXT(MORTISE_LUA_TEXT)

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
%typemap(in, noblock=1) mortise_status status {
  $1 = (mortise_status)mortise_lua_to_integer(L, $input, "$symname");
}
%typemap(out, noblock=1) mortise_status mortise_event_status {
  mortise_lua_push_integer(L, $1);
  SWIG_arg++;
}
/* The error never leaves the call. */
%rename("$ignore", regextarget=1, fullname=1) "^mortise_error_";

/* ---- handles ------------------------------------------------------------------------------ */
%nodefaultctor;
%define MORTISE_LUA_HANDLE(TYPE)
%typemap(in, noblock=1) TYPE *, const TYPE * {
  $1 = ($1_ltype)mortise_lua_handle(L, $input, $1_descriptor, "$symname", $disown);
}
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
%typemap(in, noblock=1) const mortise_options *options, mortise_queue *queue {
  $1 = lua_isnil(L, $input) ? NULL
       : ($1_ltype)mortise_lua_handle(L, $input, $1_descriptor, "$symname", $disown);
}

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
