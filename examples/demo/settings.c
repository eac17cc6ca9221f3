#include "settings.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workers.h"

enum { MAX_LEASE_MS = 2000, WORKERS_PER_LANGUAGE = 2, MIN_WORKERS = 3 };

static void usage(FILE *to) {
  fputs(
      "usage: demo [--unsafe] [--languages A,B] [--seconds N] [--workers N] [--url URL]\n"
      "\n"
      "Several processes increment one number in a file by read, pause and write. One of them is\n"
      "killed and one is stopped beyond its lease, each while it holds the lock.\n"
      "\n"
      "  --unsafe         run without the lock, to show what is lost; exits with 1\n"
      "  --languages A,B  languages of the processes: c, go, java, lua, python; default all that\n"
      "                   were built\n"
      "  --seconds N      duration, 5 to 3600; default 10\n"
      "  --workers N      number of processes, 3 to 64, at least one for each language;\n"
      "                   default two for each, at least 3\n"
      "  --url URL        the server; default local:\n",
      to);
}

static int read_number(const char *text, long lowest, long highest, long *number) {
  char *end = NULL;
  if (*text == '\0') return -1;
  *number = strtol(text, &end, 10);
  return *end == '\0' && *number >= lowest && *number <= highest ? 0 : -1;
}

static int has_language(const struct settings *settings, int language) {
  int i;
  for (i = 0; i < settings->language_count; ++i) {
    if (settings->languages[i] == language) return 1;
  }
  return 0;
}

/* Each name once. */
static int read_languages(struct settings *settings, const char *text) {
  settings->language_count = 0;
  while (text != NULL) {
    const size_t length = strcspn(text, ",");
    const int language = language_find(text, length);
    if (language < 0 || has_language(settings, language)) return -1;
    settings->languages[settings->language_count++] = language;
    text = text[length] == ',' ? text + length + 1 : NULL;
  }
  return settings->language_count > 0 ? 0 : -1;
}

/* The value of an option. Prints what would be a value unless this is one. */
static int read_value(struct settings *settings, int option, const char *value) {
  long number = 0;
  switch (option) {
    case 'l':
      if (read_languages(settings, value) == 0) return 0;
      fprintf(stderr, "demo: --languages %s: give c, go, java, lua or python, each once\n", value);
      return -1;
    case 's':
      if (read_number(value, 5, 3600, &number) == 0) {
        settings->run_ms = number * 1000;
        return 0;
      }
      fprintf(stderr, "demo: --seconds %s: give a number from 5 to 3600\n", value);
      return -1;
    case 'w':
      if (read_number(value, MIN_WORKERS, WORKERS_MAX, &number) == 0) {
        settings->workers = (int)number;
        return 0;
      }
      fprintf(stderr, "demo: --workers %s: give a number from %d to %d\n", value, MIN_WORKERS,
              WORKERS_MAX);
      return -1;
    default:
      settings->url = value;
      return 0;
  }
}

/* Defaults for options that were not given, and whether the given ones are available. */
static int complete(struct settings *settings) {
  char path[LANGUAGE_PATH_SIZE];
  int i;
  if (settings->language_count == 0) {
    for (i = 0; i < LANGUAGE_COUNT; ++i) {
      if (language_program(i, path) == 0) settings->languages[settings->language_count++] = i;
    }
  }
  for (i = 0; i < settings->language_count; ++i) {
    if (language_program(settings->languages[i], path) == 0) continue;
    fprintf(stderr, "demo: %s was not built; run ./dev demo\n", path);
    return -1;
  }
  if (settings->workers == 0) settings->workers = WORKERS_PER_LANGUAGE * settings->language_count;
  if (settings->workers < MIN_WORKERS) settings->workers = MIN_WORKERS;
  if (settings->workers < settings->language_count) {
    fprintf(stderr, "demo: --workers %d: give at least one for each of %d languages\n",
            settings->workers, settings->language_count);
    return -1;
  }
  settings->lease_ms = settings->run_ms / 5;
  if (settings->lease_ms > MAX_LEASE_MS) settings->lease_ms = MAX_LEASE_MS;
  return settings->language_count > 0 ? 0 : -1;
}

enum settings_result settings_read(struct settings *settings, int count, char **arguments) {
  static const struct option options[] = {{"help", no_argument, NULL, 'h'},
                                          {"unsafe", no_argument, NULL, 'u'},
                                          {"languages", required_argument, NULL, 'l'},
                                          {"seconds", required_argument, NULL, 's'},
                                          {"workers", required_argument, NULL, 'w'},
                                          {"url", required_argument, NULL, 'r'},
                                          {NULL, 0, NULL, 0}};
  int option;
  memset(settings, 0, sizeof *settings);
  settings->is_safe = 1;
  settings->run_ms = 10000;
  settings->url = "local:";
  while ((option = getopt_long(count, arguments, "h", options, NULL)) != -1) {
    if (option == 'h') {
      usage(stdout);
      return SETTINGS_HELP;
    }
    if (option == '?') { /* It has printed the unknown option. */
      usage(stderr);
      return SETTINGS_WRONG;
    }
    if (option == 'u') {
      settings->is_safe = 0;
    } else if (read_value(settings, option, optarg) != 0) {
      return SETTINGS_WRONG;
    }
  }
  if (optind < count) {
    fprintf(stderr, "demo: %s: unknown argument\n\n", arguments[optind]);
    usage(stderr);
    return SETTINGS_WRONG;
  }
  return complete(settings) == 0 ? SETTINGS_READ : SETTINGS_WRONG;
}
