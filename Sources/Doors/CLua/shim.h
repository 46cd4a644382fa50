#ifndef IMGFLOW_CLUA_SHIM_H
#define IMGFLOW_CLUA_SHIM_H

// What must be C: functions that raise Lua errors leave by longjmp, which may cross no frame of Swift. So the hook, the
// allocator, `print` and `setmetatable` stand here, and Swift calls only what cannot raise, or raises inside of a
// protected call.

#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>
#include <stdlib.h>
#include <time.h>

// What a state may use, and what it has used.
struct imgflow_lua_budget {
  size_t used;
  size_t limit;
  // Whether the limit on memory holds: not while the host hands values over, when nobody could catch the error.
  int is_enforced;
  long long steps;
  long long max_steps;
  // When a call has taken too long, whatever it did; on the clock that never goes back, in nanoseconds.
  long long deadline;
  long long max_time;
  // Whether a limit was the reason of an error.
  int ran_out_of_steps;
  int ran_out_of_time;
  int ran_out_of_memory;
  void (*print)(void *context, const char *text, size_t length);
  void *context;
};

static inline struct imgflow_lua_budget *imgflow_lua_budget_of(lua_State *state) {
  return *(struct imgflow_lua_budget **)lua_getextraspace(state);
}

static inline void *imgflow_lua_allocate(void *data, void *block, size_t old_size, size_t new_size) {
  struct imgflow_lua_budget *budget = (struct imgflow_lua_budget *)data;
  size_t before = block ? old_size : 0;
  if (new_size == 0) {
    free(block);
    budget->used -= before;
    return NULL;
  }
  if (budget->is_enforced && new_size > before && budget->used - before + new_size > budget->limit) {
    budget->ran_out_of_memory = 1;
    return NULL;
  }
  void *result = realloc(block, new_size);
  if (!result) return NULL;
  budget->used = budget->used - before + new_size;
  // Bytes take time to fill, also inside of one instruction.
  if (budget->is_enforced && new_size > before) budget->steps += (long long)((new_size - before) >> 6);
  return result;
}

static inline long long imgflow_lua_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

// So many instructions lie between two looks at the count.
enum { IMGFLOW_LUA_STRIDE = 100 };

static inline void imgflow_lua_count(lua_State *state, lua_Debug *activation) {
  (void)activation;
  struct imgflow_lua_budget *budget = imgflow_lua_budget_of(state);
  budget->steps += IMGFLOW_LUA_STRIDE;
  int is_late = budget->ran_out_of_time || imgflow_lua_clock() > budget->deadline;
  if (budget->steps < budget->max_steps && !is_late) return;
  // From now on every instruction fails, so that no `pcall` in the script can go on behind the limit.
  lua_sethook(state, imgflow_lua_count, LUA_MASKCOUNT, 1);
  if (is_late) {
    budget->ran_out_of_time = 1;
    luaL_error(state, "more than %I s", (LUAI_UACINT)(budget->max_time / 1000000000));
  }
  budget->ran_out_of_steps = 1;
  luaL_error(state, "more than %I instructions", (LUAI_UACINT)budget->max_steps);
}

// Counts what a function of the library does inside of one instruction.
static inline void imgflow_lua_charge(lua_State *state, lua_Integer steps) {
  struct imgflow_lua_budget *budget = imgflow_lua_budget_of(state);
  if (!budget->is_enforced || steps <= 0) return;
  long long left = budget->max_steps - budget->steps;
  budget->steps += steps < left ? steps : left;
  if (budget->steps < budget->max_steps) return;
  budget->steps -= IMGFLOW_LUA_STRIDE;
  imgflow_lua_count(state, NULL);
}

// Begins to count anew, for a call in this state or in a coroutine of it.
static inline void imgflow_lua_arm(lua_State *state) {
  struct imgflow_lua_budget *budget = imgflow_lua_budget_of(state);
  budget->steps = 0;
  budget->ran_out_of_steps = 0;
  budget->ran_out_of_time = 0;
  budget->ran_out_of_memory = 0;
  budget->deadline = imgflow_lua_clock() + budget->max_time;
  budget->is_enforced = 1;
  lua_sethook(state, imgflow_lua_count, LUA_MASKCOUNT, IMGFLOW_LUA_STRIDE);
}

static inline void imgflow_lua_disarm(lua_State *state) { imgflow_lua_budget_of(state)->is_enforced = 0; }

static inline int imgflow_lua_print(lua_State *state) {
  struct imgflow_lua_budget *budget = imgflow_lua_budget_of(state);
  int count = lua_gettop(state);
  luaL_Buffer text;
  luaL_buffinit(state, &text);
  for (int place = 1; place <= count; place++) {
    if (place > 1) luaL_addchar(&text, ' ');
    luaL_tolstring(state, place, NULL);
    luaL_addvalue(&text);
  }
  luaL_pushresult(&text);
  size_t length = 0;
  const char *line = lua_tolstring(state, -1, &length);
  if (budget->print) budget->print(budget->context, line, length);
  return 0;
}

// As the library's, but for finalizers: these run where no limit holds.
static inline int imgflow_lua_setmetatable(lua_State *state) {
  int kind = lua_type(state, 2);
  luaL_checktype(state, 1, LUA_TTABLE);
  luaL_argexpected(state, kind == LUA_TNIL || kind == LUA_TTABLE, 2, "nil or table");
  if (kind == LUA_TTABLE) {
    lua_pushliteral(state, "__gc");
    if (lua_rawget(state, 2) != LUA_TNIL) return luaL_error(state, "`__gc` is not available to scripts");
    lua_pop(state, 1);
  }
  if (luaL_getmetafield(state, 1, "__metatable") != LUA_TNIL)
    return luaL_error(state, "cannot change a protected metatable");
  lua_settop(state, 2);
  lua_setmetatable(state, 1);
  return 1;
}

// A whole number in whatever form the library takes it: floats and texts too.
static inline int imgflow_lua_whole(lua_State *state, int place, lua_Integer *number) {
  int is_number = 0;
  *number = lua_tointegerx(state, place, &is_number);
  return is_number;
}

// `string.rep`: of nothing it would take its turns all the same, in one instruction and without memory.
static inline int imgflow_string_rep(lua_State *state) {
  size_t length = 0, between = 0;
  luaL_checklstring(state, 1, &length);
  luaL_checkinteger(state, 2);
  luaL_optlstring(state, 3, "", &between);
  if (length == 0 && between == 0) {
    lua_pushliteral(state, "");
    return 1;
  }
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_insert(state, 1);
  lua_call(state, lua_gettop(state) - 1, 1);
  return 1;
}

// The number of steps that a function of `table` will take, by the name that is its second upvalue; the function itself
// is its first.
static inline int imgflow_lua_charged(lua_State *state) {
  const char *name = lua_tostring(state, lua_upvalueindex(2));
  lua_Integer steps = 0;
  int count = lua_gettop(state);
  lua_Integer from = 0, to = 0;
  if (*name == 'm') {
    if (imgflow_lua_whole(state, 2, &from) && imgflow_lua_whole(state, 3, &to))
      steps = from < 1 && to > 0 ? LUA_MAXINTEGER : to - from;
  } else if (count > 0 && lua_istable(state, 1)) {
    steps = luaL_len(state, 1);
    lua_settop(state, count);
    if (*name == 's') {
      lua_Integer length = steps;
      while ((length >>= 1) > 0 && steps < LUA_MAXINTEGER / 64) steps += luaL_len(state, 1);
      lua_settop(state, count);
    } else if (*name == 'c') {
      if (imgflow_lua_whole(state, 4, &to)) steps = to;
      if (imgflow_lua_whole(state, 3, &from) && from > 1) steps -= from;
    } else if (imgflow_lua_whole(state, 2, &from) && count > (*name == 'i' ? 2 : 1)) {
      steps -= from;
    } else {
      steps = 1;
    }
  }
  imgflow_lua_charge(state, steps);
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_insert(state, 1);
  lua_call(state, count, LUA_MULTRET);
  return lua_gettop(state);
}

#include "patterns.h"

static inline int imgflow_lua_open_libraries(lua_State *state) {
  luaL_requiref(state, LUA_GNAME, luaopen_base, 1);
  luaL_requiref(state, LUA_COLIBNAME, luaopen_coroutine, 1);
  luaL_requiref(state, LUA_TABLIBNAME, luaopen_table, 1);
  luaL_requiref(state, LUA_STRLIBNAME, luaopen_string, 1);
  luaL_requiref(state, LUA_MATHLIBNAME, luaopen_math, 1);
  luaL_requiref(state, LUA_UTF8LIBNAME, luaopen_utf8, 1);
  lua_settop(state, 0);
  const char *refused[] = {"load", "loadstring", "loadfile", "dofile", "require", "collectgarbage", "warn"};
  for (size_t place = 0; place < sizeof refused / sizeof *refused; place++) {
    lua_pushnil(state);
    lua_setglobal(state, refused[place]);
  }
  lua_getglobal(state, LUA_STRLIBNAME);
  lua_pushnil(state);
  lua_setfield(state, -2, "dump");
  const luaL_Reg counted[] = {
      {"find", imgflow_string_find},
      {"match", imgflow_string_match},
      {"gmatch", imgflow_string_gmatch},
      {"gsub", imgflow_string_gsub},
      {NULL, NULL}};
  luaL_setfuncs(state, counted, 0);
  lua_getfield(state, -1, "rep");
  lua_pushcclosure(state, imgflow_string_rep, 1);
  lua_setfield(state, -2, "rep");
  lua_getglobal(state, LUA_TABLIBNAME);
  const char *charged[] = {"insert", "remove", "move", "concat", "sort"};
  for (size_t place = 0; place < sizeof charged / sizeof *charged; place++) {
    lua_getfield(state, -1, charged[place]);
    lua_pushstring(state, charged[place]);
    lua_pushcclosure(state, imgflow_lua_charged, 2);
    lua_setfield(state, -2, charged[place]);
  }
  lua_pushcfunction(state, imgflow_lua_print);
  lua_setglobal(state, "print");
  lua_pushcfunction(state, imgflow_lua_setmetatable);
  lua_setglobal(state, "setmetatable");
  // The table of loaded libraries leads to nothing that is refused, but scripts need none of it.
  lua_pushnil(state);
  lua_setfield(state, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  return 0;
}

// What an error is told as: its text, whatever was raised.
static inline int imgflow_lua_describe(lua_State *state) {
  if (lua_type(state, 1) != LUA_TSTRING) luaL_tolstring(state, 1, NULL);
  return 1;
}

// A state with the safe libraries; NULL where there is no memory for it.
static inline lua_State *imgflow_lua_new(struct imgflow_lua_budget *budget) {
  lua_State *state = lua_newstate(imgflow_lua_allocate, budget);
  if (!state) return NULL;
  *(struct imgflow_lua_budget **)lua_getextraspace(state) = budget;
  lua_pushcfunction(state, imgflow_lua_open_libraries);
  if (lua_pcall(state, 0, 0, 0) != LUA_OK) {
    lua_close(state);
    return NULL;
  }
  return state;
}

// Text chunks only: a compiled chunk could do anything.
static inline int imgflow_lua_load(lua_State *state, const char *text, size_t length, const char *name) {
  return luaL_loadbufferx(state, text, length, name, "t");
}

// Calls the function that lies below its arguments; an error's text takes the place of the results.
static inline int imgflow_lua_call(lua_State *state, int arguments, int results) {
  int handler = lua_gettop(state) - arguments;
  lua_pushcfunction(state, imgflow_lua_describe);
  lua_insert(state, handler);
  int status = lua_pcall(state, arguments, results, handler);
  lua_remove(state, handler);
  return status;
}

// The global of a name, past all metatables.
static inline int imgflow_lua_global(lua_State *state, const char *name, size_t length) {
  lua_rawgeti(state, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_pushlstring(state, name, length);
  int kind = lua_rawget(state, -2);
  lua_remove(state, -2);
  return kind;
}

static inline void imgflow_lua_pop(lua_State *state, int count) { lua_settop(state, -count - 1); }
static inline int imgflow_lua_keep(lua_State *state) { return luaL_ref(state, LUA_REGISTRYINDEX); }
static inline int imgflow_lua_kept(lua_State *state, int number) {
  return lua_rawgeti(state, LUA_REGISTRYINDEX, number);
}
static inline void imgflow_lua_forget(lua_State *state, int number) { luaL_unref(state, LUA_REGISTRYINDEX, number); }
static inline lua_Number imgflow_lua_number(lua_State *state, int place) { return lua_tonumberx(state, place, NULL); }
static inline lua_Integer imgflow_lua_integer(lua_State *state, int place) {
  return lua_tointegerx(state, place, NULL);
}

#endif
