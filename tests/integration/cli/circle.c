/* circle THREAD...: each thread acquires its first lock, waits for the file "go", and acquires the
 * others. A thread is a list of locks as in "a,b". "r=a" reads a, "w=a" writes it, "2=a" takes two
 * permits of a semaphore of three, "!4=a" gives it four. "m=a" acquires a multi with a member, and
 * "t=a" has the format of another program. "+a" acquires without blocking the thread, "7+a" does
 * so for task 7, and "-a" acquires and unlocks. "@" stands for a zero byte in a name. It prints
 * "holds" for the first lock of each thread, and "acquired" for all locks of one. After a deadlock
 * it prints the message, and ends. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mortise/mortise.h"

enum { forever_ms = 100000 };

static mortise_client* client;
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

static mortise_status wait_for_event(mortise_lock* lock, int task) {
  mortise_queue* queue = mortise_queue_new(client, 0, NULL);
  mortise_event* event = mortise_event_new();
  mortise_status status = mortise_lock_set_task(lock, task, NULL);
  if (status == MORTISE_OK) {
    status = mortise_lock_acquire_async(lock, queue, 1, forever_ms, NULL);
  }
  if (status == MORTISE_OK) status = mortise_queue_next(queue, forever_ms, event, NULL);
  if (status == MORTISE_OK) status = mortise_event_status(event);
  mortise_event_free(event);
  return status;
}

static mortise_status acquire(char* word, mortise_error* error) {
  char* equals = strchr(word, '=');
  char* plus = strchr(word, '+');
  char* name = equals != NULL ? equals + 1 : plus != NULL ? plus + 1 : word + (*word == '-');
  const size_t size = strlen(name);
  for (size_t i = 0; i < size; ++i) {
    if (name[i] == '@') name[i] = '\0';
  }
  if (equals == NULL) {
    mortise_lock* lock = mortise_lock_new(client, name, size, NULL, NULL);
    if (plus != NULL) return wait_for_event(lock, atoi(word));
    mortise_status status = mortise_lock_acquire(lock, forever_ms, error);
    if (status == MORTISE_OK && *word == '-') status = mortise_lock_unlock(lock, NULL);
    return status;
  }
  if (*word == 'm') {
    mortise_multi* multi = mortise_multi_new(client, NULL);
    mortise_lock* member = mortise_lock_new(client, name, size, NULL, NULL);
    mortise_multi_add_lock(multi, member, NULL);
    return mortise_multi_acquire(multi, forever_ms, error);
  }
  if (*word == 't') {
    mortise_options* options = mortise_options_new();
    mortise_options_set_protocol(options, "token", 5, NULL);
    mortise_lock* lock = mortise_lock_new(client, name, size, options, NULL);
    mortise_options_free(options);
    return mortise_lock_acquire(lock, forever_ms, error);
  }
  if (*word == 'r' || *word == 'w') {
    mortise_rw* rw = mortise_rw_new(client, name, size, NULL, NULL);
    return *word == 'r' ? mortise_rw_read_acquire(rw, forever_ms, error)
                        : mortise_rw_write_acquire(rw, forever_ms, error);
  }
  mortise_semaphore* semaphore = mortise_semaphore_new(client, name, size, 3, NULL, NULL);
  if (*word == '!') return mortise_semaphore_resize(semaphore, atoi(word + 1), NULL);
  return mortise_semaphore_acquire(semaphore, atoi(word), forever_ms, error);
}

static void say(const char* line) {
  pthread_mutex_lock(&output);
  puts(line);
  fflush(stdout);
  pthread_mutex_unlock(&output);
}

static void* run(void* list) {
  char* rest = NULL;
  char* word = strtok_r(list, ",", &rest);
  mortise_error* error = mortise_error_new();
  if (acquire(word, error) != MORTISE_OK) exit(1);
  say("holds");
  while (access("go", F_OK) != 0) usleep(10000);
  while ((word = strtok_r(NULL, ",", &rest)) != NULL) {
    const mortise_status status = acquire(word, error);
    if (status == MORTISE_DEADLOCK) say(mortise_error_message(error));
    if (status != MORTISE_OK) exit(1);
  }
  say("acquired");
  for (;;) pause();
}

int main(int count, char** arguments) {
  const char* url = getenv("MORTISE_URL");
  if (count < 2 || url == NULL) return 64;
  client = mortise_client_new(url, strlen(url), NULL, NULL);
  for (int i = 1; i < count; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, arguments[i]);
  }
  for (;;) pause();
}
