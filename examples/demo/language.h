/* The languages of the demo's workers. Each has a program in the folder of the demo. */
#ifndef DEMO_LANGUAGE_H
#define DEMO_LANGUAGE_H

#include <stddef.h>

enum { LANGUAGE_COUNT = 5, LANGUAGE_PATH_SIZE = 1024 };

struct language {
  const char *name; /* as in --languages, and in the program's name */
  const char *title;
};

extern const struct language languages[LANGUAGE_COUNT];

/* The index of the one with this name; -1 when there is none. */
int language_find(const char *name, size_t length);
/* Writes the path of its worker. Returns 0 if that was built, otherwise -1 with errno. */
int language_program(int language, char path[LANGUAGE_PATH_SIZE]);

#endif
