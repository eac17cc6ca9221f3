#include "simulation/harness/script_host.hpp"

#include <array>
#include <cstdio>
#include <lua.hpp>

namespace mortise::simulation {

namespace {

constexpr const char* host_key = "mortise.script_host";

std::uint32_t rotate(std::uint32_t bits, unsigned by) { return bits << by | bits >> (32 - by); }

void digest_block(const unsigned char* block, std::array<std::uint32_t, 5>& sum) {
  std::array<std::uint32_t, 80> word{};
  for (std::size_t i = 0; i < 16; ++i) {
    const auto* at = block + i * 4;
    word[i] = std::uint32_t{at[0]} << 24U | std::uint32_t{at[1]} << 16U |
              std::uint32_t{at[2]} << 8U | at[3];
  }
  for (std::size_t i = 16; i < 80; ++i) {
    word[i] = rotate(word[i - 3] ^ word[i - 8] ^ word[i - 14] ^ word[i - 16], 1);
  }
  auto [a, b, c, d, e] = sum;
  for (std::size_t i = 0; i < 80; ++i) {
    std::uint32_t mix = 0;
    if (i < 20) {
      mix = ((b & c) | (~b & d)) + 0x5A827999U;
    } else if (i < 40) {
      mix = (b ^ c ^ d) + 0x6ED9EBA1U;
    } else if (i < 60) {
      mix = ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDCU;
    } else {
      mix = (b ^ c ^ d) + 0xCA62C1D6U;
    }
    const auto next = rotate(a, 5) + mix + e + word[i];
    e = d;
    d = c;
    c = rotate(b, 30);
    b = a;
    a = next;
  }
  sum = {sum[0] + a, sum[1] + b, sum[2] + c, sum[3] + d, sum[4] + e};
}

}  // namespace

std::string sha1_of(std::string_view text) {
  std::array<std::uint32_t, 5> sum{0x67452301U, 0xEFCDAB89U, 0x98BADCFEU, 0x10325476U, 0xC3D2E1F0U};
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) {
    padded += static_cast<char>(text.size() * 8 >> static_cast<unsigned>(shift) & 0xFFU);
  }
  for (std::size_t i = 0; i < padded.size(); i += 64) {
    digest_block(reinterpret_cast<const unsigned char*>(padded.data()) + i, sum);
  }
  std::array<char, 41> digits{};
  for (std::size_t i = 0; i < 5; ++i) std::snprintf(&digits[i * 8], 9, "%08x", sum[i]);
  return digits.data();
}

// ---- the interpreter ------------------------------------------------------------------------

script_host::script_host(simulated_redis& server) : server_(server), lua_(luaL_newstate()) {
  luaL_openlibs(lua_);
  lua_pushlightuserdata(lua_, this);
  lua_setfield(lua_, LUA_REGISTRYINDEX, host_key);
  lua_newtable(lua_);
  lua_pushcfunction(lua_, on_call);
  lua_setfield(lua_, -2, "call");
  lua_pushcfunction(lua_, on_pcall);
  lua_setfield(lua_, -2, "pcall");
  lua_pushcfunction(lua_, on_error_reply);
  lua_setfield(lua_, -2, "error_reply");
  lua_pushcfunction(lua_, on_status_reply);
  lua_setfield(lua_, -2, "status_reply");
  lua_setglobal(lua_, "redis");
  // As in Redis: a script neither reads a global that is not there nor makes one.
  lua_newtable(lua_);
  lua_pushcfunction(lua_, on_missing_global);
  lua_setfield(lua_, -2, "__index");
  lua_pushcfunction(lua_, on_new_global);
  lua_setfield(lua_, -2, "__newindex");
  lua_setmetatable(lua_, LUA_GLOBALSINDEX);
}

script_host::~script_host() { lua_close(lua_); }

int script_host::on_missing_global(lua_State* lua) {
  return luaL_error(lua, "Script attempted to access nonexistent global variable '%s'",
                    lua_tostring(lua, 2));
}

int script_host::on_new_global(lua_State* lua) {
  return luaL_error(lua, "Attempt to modify a readonly table");
}

reply script_host::load(const std::string& text) {
  const auto sha1 = sha1_of(text);
  if (knows(sha1)) return reply::bulk(sha1);
  if (luaL_loadbuffer(lua_, text.data(), text.size(), "@user_script") != 0) {
    const auto problem = reply::error("ERR Error compiling script (new function): " +
                                      std::string(lua_tostring(lua_, -1)));
    lua_pop(lua_, 1);
    return problem;
  }
  functions_[sha1] = luaL_ref(lua_, LUA_REGISTRYINDEX);
  return reply::bulk(sha1);
}

void script_host::flush() {
  for (const auto& item : functions_) luaL_unref(lua_, LUA_REGISTRYINDEX, item.second);
  functions_.clear();
}

void script_host::set_global_list(const char* name, const arguments& items) {
  lua_pushstring(lua_, name);
  lua_createtable(lua_, static_cast<int>(items.size()), 0);
  for (std::size_t i = 0; i < items.size(); ++i) {
    lua_pushlstring(lua_, items[i].data(), items[i].size());
    lua_rawseti(lua_, -2, static_cast<int>(i + 1));
  }
  lua_rawset(lua_, LUA_GLOBALSINDEX);
}

reply script_host::run(const std::string& sha1, const arguments& keys, const arguments& values) {
  const auto found = functions_.find(sha1);
  if (found == functions_.end()) {
    return reply::error("NOSCRIPT No matching script. Please use EVAL.");
  }
  set_global_list("KEYS", keys);
  set_global_list("ARGV", values);
  lua_pushcfunction(lua_, on_error);
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, found->second);
  const bool is_ok = lua_pcall(lua_, 0, 1, -2) == 0;
  auto answer = is_ok ? pop_reply(lua_) : error_of(lua_, sha1);
  lua_settop(lua_, 0);
  return answer;
}

// Makes a table of every error and notes the line of the script that it came from.
int script_host::on_error(lua_State* lua) {
  if (!lua_istable(lua, 1)) {
    lua_newtable(lua);
    lua_pushfstring(lua, "ERR %s", lua_isstring(lua, 1) ? lua_tostring(lua, 1) : "unknown error");
    lua_setfield(lua, -2, "err");
    lua_replace(lua, 1);
  }
  lua_settop(lua, 1);
  for (int level = 1; level <= 2; ++level) {
    lua_Debug where{};
    if (lua_getstack(lua, level, &where) == 0) break;
    lua_getinfo(lua, "Sl", &where);
    if (*where.what == 'C') continue;
    lua_pushinteger(lua, where.currentline);
    lua_setfield(lua, 1, "line");
    break;
  }
  return 1;
}

// Pops what on_error has made of an error.
reply script_host::error_of(lua_State* lua, const std::string& sha1) {
  lua_getfield(lua, -1, "err");
  lua_getfield(lua, -2, "line");
  std::string text = lua_isstring(lua, -2) ? lua_tostring(lua, -2) : "";
  text += " script: " + sha1;
  if (lua_isstring(lua, -1)) text += std::string(", on @user_script:") + lua_tostring(lua, -1);
  lua_pop(lua, 3);
  return reply::error(text + ".");
}

// ---- redis.call -----------------------------------------------------------------------------

// Only plain values live in these two when Lua jumps out of them: a jump runs no destructors.
int script_host::on_call(lua_State* lua) {
  lua_getfield(lua, LUA_REGISTRYINDEX, host_key);
  auto* const self = static_cast<script_host*>(lua_touserdata(lua, -1));
  lua_pop(lua, 1);
  const int results = self->call(lua, true);
  return results < 0 ? lua_error(lua) : results;
}

int script_host::on_pcall(lua_State* lua) {
  lua_getfield(lua, LUA_REGISTRYINDEX, host_key);
  auto* const self = static_cast<script_host*>(lua_touserdata(lua, -1));
  lua_pop(lua, 1);
  return self->call(lua, false);
}

// Pushes the result; -1 when the error on the stack is to be raised.
int script_host::call(lua_State* lua, bool raises) {
  arguments command;
  bool is_bad = lua_gettop(lua) == 0;
  for (int i = 1; i <= lua_gettop(lua); ++i) {
    if (lua_type(lua, i) == LUA_TNUMBER) {
      std::array<char, 64> digits{};
      std::snprintf(digits.data(), digits.size(), "%.17g", lua_tonumber(lua, i));
      command.emplace_back(digits.data());
    } else if (lua_type(lua, i) == LUA_TSTRING) {
      std::size_t length = 0;
      const auto* text = lua_tolstring(lua, i, &length);
      command.emplace_back(text, length);
    } else {
      is_bad = true;
    }
  }
  const auto answer =
      is_bad ? reply::error("ERR Lua redis lib command arguments must be strings or integers")
             : server_.call_from_script(command);
  push_reply(lua, answer);
  return answer.is_error() && raises ? -1 : 1;
}

int script_host::on_error_reply(lua_State* lua) {
  const auto* text = luaL_checkstring(lua, 1);
  lua_newtable(lua);
  // A first word that is alone is no error code.
  bool has_code = false;
  for (const auto* at = text; *at != '\0'; ++at) has_code = has_code || *at == ' ';
  lua_pushfstring(lua, has_code || *text == '-' ? "%s" : "ERR %s", *text == '-' ? text + 1 : text);
  lua_setfield(lua, -2, "err");
  return 1;
}

int script_host::on_status_reply(lua_State* lua) {
  luaL_checkstring(lua, 1);
  lua_newtable(lua);
  lua_pushvalue(lua, 1);
  lua_setfield(lua, -2, "ok");
  return 1;
}

// ---- conversions ----------------------------------------------------------------------------

void script_host::push_reply(lua_State* lua, const reply& value) {
  switch (value.type) {
    case reply::form::nil:
      lua_pushboolean(lua, 0);
      return;
    case reply::form::status:
    case reply::form::error:
      lua_newtable(lua);
      lua_pushlstring(lua, value.text.data(), value.text.size());
      lua_setfield(lua, -2, value.is_error() ? "err" : "ok");
      return;
    case reply::form::integer:
      lua_pushnumber(lua, static_cast<lua_Number>(value.integer));
      return;
    case reply::form::text:
      lua_pushlstring(lua, value.text.data(), value.text.size());
      return;
    case reply::form::array:
    case reply::form::push:
      lua_newtable(lua);
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        push_reply(lua, value.items[i]);
        lua_rawseti(lua, -2, static_cast<int>(i + 1));
      }
  }
}

reply script_host::pop_reply(lua_State* lua) {
  reply answer;
  switch (lua_type(lua, -1)) {
    case LUA_TSTRING: {
      std::size_t length = 0;
      const auto* text = lua_tolstring(lua, -1, &length);
      answer = reply::bulk({text, length});
      break;
    }
    case LUA_TNUMBER:
      answer = reply::number(static_cast<std::int64_t>(lua_tonumber(lua, -1)));
      break;
    case LUA_TBOOLEAN:
      if (lua_toboolean(lua, -1) != 0) answer = reply::number(1);
      break;
    case LUA_TTABLE: {
      for (const char* field : {"err", "ok"}) {
        lua_pushstring(lua, field);
        lua_rawget(lua, -2);
        if (lua_type(lua, -1) == LUA_TSTRING) {
          const std::string text = lua_tostring(lua, -1);
          answer = *field == 'e' ? reply::error(text) : reply::status(text);
          lua_pop(lua, 2);
          return answer;
        }
        lua_pop(lua, 1);
      }
      answer = reply::list({});
      for (int i = 1;; ++i) {
        lua_rawgeti(lua, -1, i);
        if (lua_isnil(lua, -1)) break;
        answer.items.push_back(pop_reply(lua));
      }
      lua_pop(lua, 1);
      break;
    }
    default:
      break;
  }
  lua_pop(lua, 1);
  return answer;
}

}  // namespace mortise::simulation
