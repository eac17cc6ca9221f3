// Runs Lua scripts as Redis does: Lua 5.1, globals guarded, `redis.call` and its conversions.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "simulation/harness/simulated_redis.hpp"

struct lua_State;

namespace mortise::simulation {

class script_host {
 public:
  explicit script_host(simulated_redis& server);
  ~script_host();
  script_host(const script_host&) = delete;
  script_host& operator=(const script_host&) = delete;

  // EVALSHA; a NOSCRIPT error when it is not known.
  reply run(const std::string& sha1, const arguments& keys, const arguments& values);
  // Remembers a script (EVAL, SCRIPT LOAD) and gives its SHA-1, or an error.
  reply load(const std::string& text);
  void flush();
  [[nodiscard]] bool knows(std::string_view sha1) const { return functions_.count(sha1) != 0; }

 private:
  static int on_call(lua_State* lua);
  static int on_pcall(lua_State* lua);
  static int on_error_reply(lua_State* lua);
  static int on_status_reply(lua_State* lua);
  static int on_error(lua_State* lua);
  static int on_missing_global(lua_State* lua);
  static int on_new_global(lua_State* lua);
  int call(lua_State* lua, bool raises);
  void push_reply(lua_State* lua, const reply& value);
  reply pop_reply(lua_State* lua);
  reply error_of(lua_State* lua, const std::string& sha1);
  void set_global_list(const char* name, const arguments& items);

  simulated_redis& server_;
  lua_State* lua_;
  std::map<std::string, int, std::less<>> functions_;  // SHA-1 → reference in Lua's registry
};

// The SHA-1 of a text in hexadecimal.
std::string sha1_of(std::string_view text);

}  // namespace mortise::simulation
