#include "words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int digit(char c) { return isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10; }

static size_t decode(char *text) {
  char *to = text;
  for (const char *from = text; *from != '\0'; ++to) {
    if (*from == '%' && isxdigit((unsigned char)from[1]) && isxdigit((unsigned char)from[2])) {
      *to = (char)(digit(from[1]) * 16 + digit(from[2]));
      from += 3;
    } else {
      *to = *from++;
    }
  }
  *to = '\0';
  return (size_t)(to - text);
}

int words_read(struct words *line) {
  if (getline(&line->line, &line->capacity, stdin) <= 0) return 0;
  line->line[strcspn(line->line, "\n")] = '\0';
  line->count = 0;
  const char **const places[] = {&line->id, &line->first, &line->second, &line->third};
  for (int i = 0; i < 4; ++i) *places[i] = "";
  int place = 0;
  for (char *word = strtok(line->line, " "); word != NULL; word = strtok(NULL, " ")) {
    char *equals = strchr(word, '=');
    if (equals == NULL && place < 4) *places[place++] = word;
    if (equals == NULL || line->count == MOST_WORDS) continue;
    *equals = '\0';
    struct word *next = &line->words[line->count++];
    next->key = word;
    next->value = equals + 1;
    next->size = decode(next->value);
  }
  return 1;
}

struct word *words_find(struct words *line, const char *key) {
  for (int i = 0; i < line->count; ++i) {
    if (strcmp(line->words[i].key, key) == 0) return &line->words[i];
  }
  return NULL;
}

int64_t words_number(struct words *line, const char *key, int64_t otherwise) {
  const struct word *found = words_find(line, key);
  return found == NULL ? otherwise : strtoll(found->value, NULL, 10);
}

const char *words_status(mortise_status status) {
  static const char *const outcomes[] = {"ok",        "not_acquired", "timed_out",
                                         "cancelled", "lost",         "not_owner",
                                         "shut_down", "not_waiting",  "deadlock"};
  static const char *const errors[] = {"",        "invalid_argument", "unreachable", "unknown",
                                       "refused", "already_held",     "busy",        "limit",
                                       "closed",  "forked",           "unsupported", "no_memory",
                                       "internal"};
  if (status >= 0 && status <= 8) return outcomes[status];
  if (status < 0 && status >= -12) return errors[-status];
  return "a_new_one";
}

void words_print(const char *key, const char *text) {
  if (*text == '\0') return;
  printf(" %s=", key);
  for (; *text != '\0'; ++text) {
    if (isalnum((unsigned char)*text)) {
      putchar(*text);
    } else {
      printf("%%%02X", (unsigned char)*text);
    }
  }
}
