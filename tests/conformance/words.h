/* Lines of words, some of them key=value with percent-encoded values. */
#ifndef CONFORMANCE_WORDS_H
#define CONFORMANCE_WORDS_H

#include <mortise/mortise.h>
#include <stddef.h>

enum { MOST_WORDS = 32 };

struct word {
  const char *key;
  char *value; /* decoded, ends in NUL, may have others within */
  size_t size;
};

/* `ID FIRST [SECOND [THIRD]] [key=value…]` */
struct words {
  char *line;
  size_t capacity;
  const char *id, *first, *second, *third;
  struct word words[MOST_WORDS];
  int count;
};

/* The next line of the standard input; 0 at its end. */
int words_read(struct words *line);
/* The value of a key, or NULL. */
struct word *words_find(struct words *line, const char *key);
int64_t words_number(struct words *line, const char *key, int64_t otherwise);
/* The name of a status as scenarios have it. */
const char *words_status(mortise_status status);
/* Prints ` KEY=TEXT`, or nothing for an empty text. */
void words_print(const char *key, const char *text);

#endif
