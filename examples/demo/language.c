#define _POSIX_C_SOURCE 200809L

#include "language.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct language languages[LANGUAGE_COUNT] = {
    {"c", "C"}, {"go", "Go"}, {"java", "Java"}, {"lua", "Lua"}, {"python", "Python"}};

int language_find(const char *name, size_t length) {
  int i;
  for (i = 0; i < LANGUAGE_COUNT; ++i) {
    if (strlen(languages[i].name) == length && memcmp(languages[i].name, name, length) == 0) {
      return i;
    }
  }
  return -1;
}

int language_program(int language, char path[LANGUAGE_PATH_SIZE]) {
  char *name;
  size_t left;
  ssize_t length = readlink("/proc/self/exe", path, LANGUAGE_PATH_SIZE - 1);
  if (length < 0) return -1;
  path[length] = '\0';
  name = strrchr(path, '/') + 1;
  left = LANGUAGE_PATH_SIZE - (size_t)(name - path);
  if ((size_t)snprintf(name, left, "demo_worker_%s", languages[language].name) >= left) {
    errno = ENAMETOOLONG;
    return -1;
  }
  return access(path, X_OK);
}
