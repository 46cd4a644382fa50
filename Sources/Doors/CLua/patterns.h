#ifndef IMGFLOW_CLUA_PATTERNS_H
#define IMGFLOW_CLUA_PATTERNS_H

// `string.find`, `match`, `gmatch` and `gsub`, which count what they do: a pattern such as `.-.-.-.-x` goes back and
// forth for hours inside of a single instruction, where no hook is called.
//
// They mean what the library's mean. The way of matching is that of Lua 5.4's lstrlib.c, Copyright (C) 1994-2024
// Lua.org, PUC-Rio, under the MIT licence.

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { IMGFLOW_CAPTURES = 32, IMGFLOW_MATCH_DEPTH = 200, IMGFLOW_CAPTURE_OPEN = -1, IMGFLOW_CAPTURE_PLACE = -2 };

struct imgflow_match {
  const char *text;
  const char *text_end;
  const char *pattern_end;
  lua_State *state;
  int depth;
  int level;
  int work;
  struct {
    const char *start;
    ptrdiff_t length;
  } captures[IMGFLOW_CAPTURES];
};

static inline const char *imgflow_match_here(struct imgflow_match *match, const char *text, const char *pattern);

static inline void imgflow_match_step(struct imgflow_match *match) {
  if (++match->work < 256) return;
  imgflow_lua_charge(match->state, match->work);
  match->work = 0;
}

static inline const char *imgflow_class_end(struct imgflow_match *match, const char *pattern) {
  if (pattern == match->pattern_end) luaL_error(match->state, "malformed pattern (ends too early)");
  char first = *pattern++;
  if (first == '%') {
    if (pattern == match->pattern_end) luaL_error(match->state, "malformed pattern (ends with '%%')");
    return pattern + 1;
  }
  if (first != '[') return pattern;
  if (pattern < match->pattern_end && *pattern == '^') pattern++;
  do {  // A `]` that comes first is one of the set.
    if (pattern == match->pattern_end) luaL_error(match->state, "malformed pattern (missing ']')");
    if (*pattern++ == '%') {
      if (pattern == match->pattern_end) luaL_error(match->state, "malformed pattern (missing ']')");
      pattern++;
    }
  } while (pattern == match->pattern_end || *pattern != ']');
  return pattern + 1;
}

static inline int imgflow_in_class(int letter, int class) {
  int is;
  switch (tolower(class)) {
  case 'a': is = isalpha(letter); break;
  case 'c': is = iscntrl(letter); break;
  case 'd': is = isdigit(letter); break;
  case 'g': is = isgraph(letter); break;
  case 'l': is = islower(letter); break;
  case 'p': is = ispunct(letter); break;
  case 's': is = isspace(letter); break;
  case 'u': is = isupper(letter); break;
  case 'w': is = isalnum(letter); break;
  case 'x': is = isxdigit(letter); break;
  default: return class == letter;
  }
  if (isupper(class)) is = !is;
  return is != 0;
}

// Whether a letter is in the set that begins at `[` and ends at `]`.
static inline int imgflow_in_set(int letter, const char *pattern, const char *end) {
  int found = 1;
  if (pattern[1] == '^') {
    found = 0;
    pattern++;
  }
  while (++pattern < end) {
    if (*pattern == '%') {
      pattern++;
      if (imgflow_in_class(letter, (unsigned char)*pattern)) return found;
    } else if (pattern[1] == '-' && pattern + 2 < end) {
      pattern += 2;
      if ((unsigned char)pattern[-2] <= letter && letter <= (unsigned char)*pattern) return found;
    } else if ((unsigned char)*pattern == letter) {
      return found;
    }
  }
  return !found;
}

static inline int imgflow_match_one(
    struct imgflow_match *match, const char *text, const char *pattern, const char *after) {
  imgflow_match_step(match);
  if (text >= match->text_end) return 0;
  int letter = (unsigned char)*text;
  switch (*pattern) {
  case '.': return 1;
  case '%': return imgflow_in_class(letter, (unsigned char)pattern[1]);
  case '[': return imgflow_in_set(letter, pattern, after - 1);
  default: return (unsigned char)*pattern == letter;
  }
}

static inline const char *imgflow_match_balance(struct imgflow_match *match, const char *text, const char *pattern) {
  if (pattern >= match->pattern_end - 1) luaL_error(match->state, "malformed pattern (missing arguments to '%%b')");
  if (text >= match->text_end || *text != *pattern) return NULL;
  int open = *pattern, close = pattern[1], depth = 1;
  while (++text < match->text_end) {
    imgflow_match_step(match);
    if (*text == close) {
      if (--depth == 0) return text + 1;
    } else if (*text == open) {
      depth++;
    }
  }
  return NULL;
}

static inline const char *imgflow_match_most(
    struct imgflow_match *match, const char *text, const char *pattern, const char *after) {
  ptrdiff_t count = 0;
  while (imgflow_match_one(match, text + count, pattern, after)) count++;
  for (; count >= 0; count--) {
    const char *end = imgflow_match_here(match, text + count, after + 1);
    if (end) return end;
  }
  return NULL;
}

static inline const char *imgflow_match_least(
    struct imgflow_match *match, const char *text, const char *pattern, const char *after) {
  for (;;) {
    const char *end = imgflow_match_here(match, text, after + 1);
    if (end) return end;
    if (!imgflow_match_one(match, text, pattern, after)) return NULL;
    text++;
  }
}

static inline const char *imgflow_capture_begin(
    struct imgflow_match *match, const char *text, const char *pattern, ptrdiff_t kind) {
  if (match->level >= IMGFLOW_CAPTURES) luaL_error(match->state, "too many captures");
  match->captures[match->level].start = text;
  match->captures[match->level].length = kind;
  match->level++;
  const char *end = imgflow_match_here(match, text, pattern);
  if (!end) match->level--;
  return end;
}

static inline const char *imgflow_capture_end(struct imgflow_match *match, const char *text, const char *pattern) {
  int number = match->level - 1;
  while (number >= 0 && match->captures[number].length != IMGFLOW_CAPTURE_OPEN) number--;
  if (number < 0) luaL_error(match->state, "invalid pattern capture");
  match->captures[number].length = text - match->captures[number].start;
  const char *end = imgflow_match_here(match, text, pattern);
  if (!end) match->captures[number].length = IMGFLOW_CAPTURE_OPEN;
  return end;
}

static inline const char *imgflow_match_capture(struct imgflow_match *match, const char *text, int digit) {
  int number = digit - '1';
  if (number < 0 || number >= match->level || match->captures[number].length == IMGFLOW_CAPTURE_OPEN)
    luaL_error(match->state, "invalid capture index %%%d", number + 1);
  ptrdiff_t length = match->captures[number].length;
  if (length < 0) length = 0;
  imgflow_lua_charge(match->state, length / 16);
  if (match->text_end - text >= length && memcmp(match->captures[number].start, text, (size_t)length) == 0)
    return text + length;
  return NULL;
}

// The end of what a pattern matches at a place; NULL where it does not match there.
static inline const char *imgflow_match_here(struct imgflow_match *match, const char *text, const char *pattern) {
  if (match->depth-- == 0) luaL_error(match->state, "pattern too complex");
  while (pattern != match->pattern_end) {
    imgflow_match_step(match);
    if (*pattern == '(') {
      text = pattern + 1 < match->pattern_end && pattern[1] == ')'
                 ? imgflow_capture_begin(match, text, pattern + 2, IMGFLOW_CAPTURE_PLACE)
                 : imgflow_capture_begin(match, text, pattern + 1, IMGFLOW_CAPTURE_OPEN);
      break;
    }
    if (*pattern == ')') {
      text = imgflow_capture_end(match, text, pattern + 1);
      break;
    }
    if (*pattern == '$' && pattern + 1 == match->pattern_end) {
      if (text != match->text_end) text = NULL;
      break;
    }
    if (*pattern == '%' && pattern + 1 < match->pattern_end) {
      if (pattern[1] == 'b') {
        text = imgflow_match_balance(match, text, pattern + 2);
        if (!text) break;
        pattern += 4;
        continue;
      }
      if (pattern[1] == 'f') {
        pattern += 2;
        if (pattern == match->pattern_end || *pattern != '[')
          luaL_error(match->state, "missing '[' after '%%f' in pattern");
        const char *after = imgflow_class_end(match, pattern);
        int before = text == match->text ? 0 : (unsigned char)text[-1];
        int letter = text == match->text_end ? 0 : (unsigned char)*text;
        if (imgflow_in_set(before, pattern, after - 1) || !imgflow_in_set(letter, pattern, after - 1)) {
          text = NULL;
          break;
        }
        pattern = after;
        continue;
      }
      if (isdigit((unsigned char)pattern[1])) {
        text = imgflow_match_capture(match, text, (unsigned char)pattern[1]);
        if (!text) break;
        pattern += 2;
        continue;
      }
    }
    const char *after = imgflow_class_end(match, pattern);
    char suffix = after < match->pattern_end ? *after : 0;
    if (suffix == '*' || suffix == '+') {
      if (suffix == '+') {
        if (!imgflow_match_one(match, text, pattern, after)) {
          text = NULL;
          break;
        }
        text++;
      }
      text = imgflow_match_most(match, text, pattern, after);
      break;
    }
    if (suffix == '-') {
      text = imgflow_match_least(match, text, pattern, after);
      break;
    }
    int is = imgflow_match_one(match, text, pattern, after);
    if (suffix == '?') {
      const char *end = is ? imgflow_match_here(match, text + 1, after + 1) : NULL;
      if (end) {
        text = end;
        break;
      }
      pattern = after + 1;
      continue;
    }
    if (!is) {
      text = NULL;
      break;
    }
    text++;
    pattern = after;
  }
  match->depth++;
  return text;
}

// Puts a capture on the stack; where a pattern has none, the whole match counts as its first.
static inline void imgflow_push_capture(struct imgflow_match *match, int number, const char *start, const char *end) {
  if (number >= match->level) {
    if (number != 0) luaL_error(match->state, "invalid capture index %%%d", number + 1);
    lua_pushlstring(match->state, start, (size_t)(end - start));
    return;
  }
  ptrdiff_t length = match->captures[number].length;
  if (length == IMGFLOW_CAPTURE_OPEN) luaL_error(match->state, "unfinished capture");
  if (length == IMGFLOW_CAPTURE_PLACE)
    lua_pushinteger(match->state, match->captures[number].start - match->text + 1);
  else
    lua_pushlstring(match->state, match->captures[number].start, (size_t)length);
}

static inline int imgflow_push_captures(struct imgflow_match *match, const char *start, const char *end) {
  int count = match->level == 0 && start ? 1 : match->level;
  luaL_checkstack(match->state, count, "too many captures");
  for (int number = 0; number < count; number++) imgflow_push_capture(match, number, start, end);
  return count;
}

static inline void imgflow_match_prepare(
    struct imgflow_match *match, lua_State *state, const char *text, size_t text_length, const char *pattern,
    size_t pattern_length) {
  match->state = state;
  match->text = text;
  match->text_end = text + text_length;
  match->pattern_end = pattern + pattern_length;
  match->work = 0;
}

static inline const char *imgflow_match_anew(struct imgflow_match *match, const char *text, const char *pattern) {
  match->level = 0;
  match->depth = IMGFLOW_MATCH_DEPTH;
  return imgflow_match_here(match, text, pattern);
}

// A place counted from 1, or from the end where it is negative, as one counted from 0.
static inline size_t imgflow_place(lua_Integer place, size_t length) {
  if (place > 0) return (size_t)place - 1;
  if (place == 0 || place < -(lua_Integer)length) return 0;
  return length + (size_t)place;
}

static inline const char *imgflow_find_plain(
    lua_State *state, const char *text, size_t text_length, const char *wanted, size_t wanted_length) {
  if (wanted_length == 0) return text;
  while (text_length >= wanted_length) {
    const char *found = (const char *)memchr(text, *wanted, text_length - wanted_length + 1);
    imgflow_lua_charge(state, 1 + (lua_Integer)(wanted_length / 16) + (found ? found - text : (ptrdiff_t)text_length) / 16);
    if (!found) return NULL;
    if (memcmp(found, wanted, wanted_length) == 0) return found;
    text_length -= (size_t)(found + 1 - text);
    text = found + 1;
  }
  return NULL;
}

static inline int imgflow_find_or_match(lua_State *state, int finds) {
  size_t text_length, pattern_length;
  const char *text = luaL_checklstring(state, 1, &text_length);
  const char *pattern = luaL_checklstring(state, 2, &pattern_length);
  size_t start = imgflow_place(luaL_optinteger(state, 3, 1), text_length);
  if (start > text_length) {
    luaL_pushfail(state);
    return 1;
  }
  if (finds) {
    int is_plain = lua_toboolean(state, 4);
    if (!is_plain) {
      is_plain = 1;
      for (size_t place = 0; place < pattern_length; place++)
        if (pattern[place] && strchr("^$*+?.([%-", pattern[place])) is_plain = 0;
    }
    if (is_plain) {
      const char *found = imgflow_find_plain(state, text + start, text_length - start, pattern, pattern_length);
      if (!found) {
        luaL_pushfail(state);
        return 1;
      }
      lua_pushinteger(state, found - text + 1);
      lua_pushinteger(state, found - text + (lua_Integer)pattern_length);
      return 2;
    }
  }
  int is_anchored = pattern_length > 0 && *pattern == '^';
  struct imgflow_match match;
  imgflow_match_prepare(&match, state, text, text_length, pattern, pattern_length);
  const char *from = text + start;
  do {
    const char *end = imgflow_match_anew(&match, from, pattern + is_anchored);
    if (!end) continue;
    if (!finds) return imgflow_push_captures(&match, from, end);
    lua_pushinteger(state, from - text + 1);
    lua_pushinteger(state, end - text);
    return imgflow_push_captures(&match, NULL, NULL) + 2;
  } while (from++ < match.text_end && !is_anchored);
  luaL_pushfail(state);
  return 1;
}

static inline int imgflow_string_find(lua_State *state) { return imgflow_find_or_match(state, 1); }
static inline int imgflow_string_match(lua_State *state) { return imgflow_find_or_match(state, 0); }

// Where `gmatch` goes on, and where the last match ended, which an empty one may not repeat.
struct imgflow_gmatch {
  size_t next;
  ptrdiff_t last_end;
};

static inline int imgflow_gmatch_step(lua_State *state) {
  size_t text_length, pattern_length;
  const char *text = lua_tolstring(state, lua_upvalueindex(1), &text_length);
  const char *pattern = lua_tolstring(state, lua_upvalueindex(2), &pattern_length);
  struct imgflow_gmatch *stand = (struct imgflow_gmatch *)lua_touserdata(state, lua_upvalueindex(3));
  struct imgflow_match match;
  imgflow_match_prepare(&match, state, text, text_length, pattern, pattern_length);
  for (; stand->next <= text_length; stand->next++) {
    const char *from = text + stand->next;
    const char *end = imgflow_match_anew(&match, from, pattern);
    if (!end || end - text == stand->last_end) continue;
    stand->last_end = end - text;
    stand->next = (size_t)stand->last_end;
    return imgflow_push_captures(&match, from, end);
  }
  return 0;
}

static inline int imgflow_string_gmatch(lua_State *state) {
  size_t text_length;
  luaL_checklstring(state, 1, &text_length);
  luaL_checkstring(state, 2);
  size_t start = imgflow_place(luaL_optinteger(state, 3, 1), text_length);
  lua_settop(state, 2);
  struct imgflow_gmatch *stand = (struct imgflow_gmatch *)lua_newuserdatauv(state, sizeof *stand, 0);
  stand->next = start > text_length ? text_length + 1 : start;
  stand->last_end = -1;
  lua_pushcclosure(state, imgflow_gmatch_step, 3);
  return 1;
}

// Adds what takes the place of a match; says whether anything has changed.
static inline int imgflow_add_value(
    struct imgflow_match *match, luaL_Buffer *buffer, const char *start, const char *end, int kind) {
  lua_State *state = match->state;
  if (kind == LUA_TFUNCTION) {
    lua_pushvalue(state, 3);
    int count = imgflow_push_captures(match, start, end);
    lua_call(state, count, 1);
  } else if (kind == LUA_TTABLE) {
    imgflow_push_capture(match, 0, start, end);
    lua_gettable(state, 3);
  } else {
    size_t length;
    const char *text = lua_tolstring(state, 3, &length);
    for (size_t place = 0; place < length; place++) {
      if (text[place] != '%') {
        luaL_addchar(buffer, text[place]);
        continue;
      }
      place++;
      char letter = place < length ? text[place] : 0;
      if (letter == '%') {
        luaL_addchar(buffer, '%');
      } else if (letter == '0') {
        luaL_addlstring(buffer, start, (size_t)(end - start));
      } else if (isdigit((unsigned char)letter)) {
        imgflow_push_capture(match, letter - '1', start, end);
        luaL_tolstring(state, -1, NULL);
        lua_remove(state, -2);
        luaL_addvalue(buffer);
      } else {
        luaL_error(state, "invalid use of '%%' in replacement string");
      }
    }
    return 1;
  }
  if (!lua_toboolean(state, -1)) {
    lua_pop(state, 1);
    luaL_addlstring(buffer, start, (size_t)(end - start));
    return 0;
  }
  if (!lua_isstring(state, -1))
    return luaL_error(state, "invalid replacement value (a %s)", luaL_typename(state, -1));
  luaL_addvalue(buffer);
  return 1;
}

static inline int imgflow_string_gsub(lua_State *state) {
  size_t text_length, pattern_length;
  const char *text = luaL_checklstring(state, 1, &text_length);
  const char *pattern = luaL_checklstring(state, 2, &pattern_length);
  int kind = lua_type(state, 3);
  lua_Integer most = luaL_optinteger(state, 4, (lua_Integer)text_length + 1);
  luaL_argexpected(
      state, kind == LUA_TNUMBER || kind == LUA_TSTRING || kind == LUA_TFUNCTION || kind == LUA_TTABLE, 3,
      "string/function/table");
  int is_anchored = pattern_length > 0 && *pattern == '^';
  struct imgflow_match match;
  imgflow_match_prepare(&match, state, text, text_length, pattern, pattern_length);
  luaL_Buffer buffer;
  luaL_buffinit(state, &buffer);
  const char *last_end = NULL;
  lua_Integer count = 0;
  int has_changed = 0;
  while (count < most) {
    const char *end = imgflow_match_anew(&match, text, pattern + is_anchored);
    if (end && end != last_end) {
      count++;
      has_changed = imgflow_add_value(&match, &buffer, text, end, kind) | has_changed;
      text = last_end = end;
    } else if (text < match.text_end) {
      luaL_addchar(&buffer, *text++);
    } else {
      break;
    }
    if (is_anchored) break;
  }
  if (has_changed) {
    luaL_addlstring(&buffer, text, (size_t)(match.text_end - text));
    luaL_pushresult(&buffer);
  } else {
    lua_pushvalue(state, 1);
  }
  lua_pushinteger(state, count);
  return 2;
}

#endif
