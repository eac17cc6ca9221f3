/* Multis: all of several locks or none. */
#include "fixture.h"

static test_server *server;
static mortise_client *client;

struct set {
  mortise_lock *lock;
  mortise_rw *rw;
  mortise_semaphore *semaphore;
  mortise_multi *multi;
};

/* One of each kind, added in another order than that of their names. */
static struct set open_set(int is_reader) {
  struct set set = {open_lock(client, "b lock"), open_rw(client, "c rw"),
                    open_semaphore(client, "a semaphore", 3), mortise_multi_new(client, NULL)};
  CHECK(set.multi != NULL);
  CHECK_STATUS(MORTISE_OK, is_reader ? mortise_multi_add_reader(set.multi, set.rw, NULL)
                                     : mortise_multi_add_writer(set.multi, set.rw, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_semaphore(set.multi, set.semaphore, 2, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(set.multi, set.lock, NULL));
  CHECK_NUMBER(3, mortise_multi_member_count(set.multi));
  return set;
}

static void close_set(struct set *set) {
  mortise_multi_free(set->multi);
  mortise_lock_free(set->lock);
  mortise_rw_free(set->rw);
  mortise_semaphore_free(set->semaphore);
}

/* How many locks of the sets are held. */
static int64_t held_keys(void) {
  return server_number(server, "EVAL return(#redis.call('KEYS','{mortise:*}')) 0");
}

static void all_are_held_and_all_are_released(void) {
  struct set set = open_set(0);
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_multi_unlock(set.multi, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(set.multi, patience_ms, NULL));
  CHECK_NUMBER(1, mortise_multi_is_held(set.multi));
  CHECK(mortise_multi_valid_ms(set.multi) > 0);
  CHECK_NUMBER(1, mortise_lock_is_held(set.lock));
  CHECK_NUMBER(1, mortise_rw_is_writing(set.rw));
  CHECK_NUMBER(1, mortise_semaphore_is_held(set.semaphore));
  CHECK(mortise_lock_token(set.lock) > 0);
  CHECK_NUMBER(3, held_keys());
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_multi_try(set.multi, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_unlock(set.multi, NULL));
  CHECK_NUMBER(0, mortise_multi_is_held(set.multi));
  CHECK_NUMBER(0, mortise_multi_valid_ms(set.multi));
  CHECK_NUMBER(0, held_keys());
  CHECK_STATUS(MORTISE_OK, mortise_multi_try(set.multi, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_unlock(set.multi, NULL));
  close_set(&set);
}

static void one_in_the_way_leaves_nothing_behind(void) {
  struct set set = open_set(0);
  mortise_error *error = mortise_error_new();
  mortise_rw *reader = open_rw(client, "c rw");
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(reader, NULL));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_multi_try(set.multi, error));
  CHECK_CONTAINS(mortise_error_message(error), "c rw");
  CHECK_NUMBER(0, mortise_lock_is_held(set.lock));
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_multi_acquire(set.multi, 500, error));
  CHECK_CONTAINS(mortise_error_message(error), "c rw");
  CHECK_NUMBER(0, mortise_multi_is_held(set.multi));
  /* A command of this client after the give-back sees its effect. */
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(set.lock, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_multi_try(set.multi, error));
  CHECK_CONTAINS(mortise_error_message(error), "b lock");
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(set.lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(reader, NULL));
  CHECK_NUMBER(0, held_keys());
  mortise_rw_free(reader);
  mortise_error_free(error);
  close_set(&set);
}

static void a_member_that_was_changed_by_itself_stays_a_part(void) {
  mortise_client *other = open_client(server);
  mortise_rw *writer = open_rw(other, "c rw");
  for (int is_freed = 0; is_freed <= 1; ++is_freed) {
    for (int is_reader = 0; is_reader <= 1; ++is_reader) {
      struct set set = open_set(is_reader);
      CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(set.multi, patience_ms, NULL));
      CHECK_STATUS(MORTISE_OK, is_reader ? mortise_rw_upgrade(set.rw, NULL)
                                         : mortise_rw_downgrade(set.rw, NULL));
      CHECK_NUMBER(1, mortise_multi_is_held(set.multi));
      CHECK(mortise_multi_valid_ms(set.multi) > 0);
      CHECK_STATUS(MORTISE_OK, mortise_multi_extend(set.multi, 0, NULL));
      CHECK_STATUS(MORTISE_OK, mortise_multi_progress(set.multi, NULL));
      if (is_freed) {
        mortise_multi_free(set.multi);
        set.multi = NULL;
      } else {
        CHECK_STATUS(MORTISE_OK, mortise_multi_unlock(set.multi, NULL));
      }
      CHECK_NUMBER(0, mortise_rw_is_reading(set.rw));
      CHECK_NUMBER(0, mortise_rw_is_writing(set.rw));
      CHECK_STATUS(MORTISE_OK, mortise_rw_write_acquire(writer, patience_ms, NULL));
      CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(writer, NULL));
      close_set(&set);
    }
  }
  mortise_rw_free(writer);
  mortise_client_free(other);
}

/* The server answers the upgrade only after the unlock, which leaves nothing held. */
static void an_unlock_ends_the_upgrade_of_a_member(void) {
  mortise_queue *queue = mortise_queue_new(client, 0, NULL);
  mortise_event *event = mortise_event_new();
  for (int is_freed = 0; is_freed <= 1; ++is_freed) {
    struct set set = open_set(1);
    CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(set.multi, patience_ms, NULL));
    server_command(server, "CLIENT PAUSE 60000 WRITE");
    CHECK_STATUS(MORTISE_OK, mortise_rw_upgrade_async(set.rw, queue, 7, NULL));
    CHECK_NUMBER(1, mortise_multi_is_held(set.multi));
    CHECK_STATUS(MORTISE_OK, mortise_multi_progress(set.multi, NULL));
    if (is_freed) {
      mortise_multi_free(set.multi);
      set.multi = NULL;
    } else {
      CHECK_STATUS(MORTISE_OK, mortise_multi_unlock_async(set.multi, queue, 8, NULL));
      CHECK_NUMBER(0, mortise_multi_is_held(set.multi));
    }
    server_command(server, "CLIENT UNPAUSE");
    CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
    CHECK_NUMBER(MORTISE_EVENT_UPGRADED, mortise_event_kind(event));
    CHECK_STATUS(MORTISE_NOT_OWNER, mortise_event_status(event));
    if (!is_freed) {
      CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
      CHECK_NUMBER(MORTISE_EVENT_UNLOCKED, mortise_event_kind(event));
      CHECK_STATUS(MORTISE_OK, mortise_event_status(event));
    }
    /* A command of this client after the unlock sees its effect. */
    CHECK_STATUS(MORTISE_OK, mortise_rw_write_acquire(set.rw, patience_ms, NULL));
    CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(set.rw, NULL));
    CHECK_NUMBER(0, held_keys());
    close_set(&set);
  }
  mortise_event_free(event);
  mortise_queue_free(queue);
}

static void a_wait_is_cancelled_whole(void) {
  struct set set = open_set(1);
  mortise_queue *queue = mortise_queue_new(client, 0, NULL);
  mortise_event *event = mortise_event_new();
  mortise_rw *writer = open_rw(client, "c rw");
  CHECK_STATUS(MORTISE_NOT_WAITING, mortise_multi_cancel(set.multi, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(writer, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire_async(set.multi, queue, 7, patience_ms, NULL));
  CHECK_STATUS(MORTISE_BUSY, mortise_multi_try(set.multi, NULL));
  CHECK_STATUS(MORTISE_BUSY, mortise_multi_add_lock(set.multi, set.lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_cancel(set.multi, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_NUMBER(MORTISE_EVENT_ACQUIRED, mortise_event_kind(event));
  CHECK_NUMBER(7, mortise_event_tag(event));
  CHECK_STATUS(MORTISE_CANCELLED, mortise_event_status(event));
  CHECK_NUMBER(0, mortise_multi_is_held(set.multi));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(writer, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_try_async(set.multi, queue, 8, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_event_status(event));
  CHECK_STATUS(MORTISE_OK, mortise_multi_unlock_async(set.multi, queue, 9, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_NUMBER(MORTISE_EVENT_UNLOCKED, mortise_event_kind(event));
  CHECK_STATUS(MORTISE_OK, mortise_event_status(event));
  /* A shutdown ends a wait, too. */
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(writer, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire_async(set.multi, queue, 10, patience_ms, NULL));
  mortise_queue_shutdown(queue);
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_STATUS(MORTISE_CANCELLED, mortise_event_status(event));
  CHECK_STATUS(MORTISE_SHUT_DOWN, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_STATUS(MORTISE_SHUT_DOWN, mortise_multi_try_async(set.multi, queue, 11, NULL));
  mortise_rw_free(writer);
  mortise_event_free(event);
  mortise_queue_free(queue);
  close_set(&set);
}

/* While the second is waited for, the lease of the first goes by. */
static void a_wait_costs_no_member_its_lease(void) {
  mortise_options *options = options_with("lease", "4s");
  CHECK_STATUS(MORTISE_OK, mortise_options_set(options, "renewal", 7, "off", 3, NULL));
  mortise_client *hasty = open_client_with(server_url(server), options);
  mortise_lock *first = open_lock(hasty, "1 top");
  mortise_lock *second = open_lock(hasty, "2 top");
  mortise_lock *in_the_way = open_lock(client, "2 top");
  mortise_multi *multi = mortise_multi_new(hasty, NULL);
  mortise_queue *queue = mortise_queue_new(hasty, 0, NULL);
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, second, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(in_the_way, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire_async(multi, queue, 1, patience_ms, NULL));
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_queue_next(queue, 2000, event, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(in_the_way, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_event_status(event));
  CHECK(mortise_multi_valid_ms(multi) > 2500);
  CHECK(mortise_lock_valid_ms(first) > 2500);
  CHECK_STATUS(MORTISE_OK, mortise_multi_unlock(multi, NULL));
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_multi_free(multi);
  mortise_lock_free(first);
  mortise_lock_free(second);
  mortise_lock_free(in_the_way);
  mortise_client_free(hasty);
  mortise_options_free(options);
}

static void bad_members_are_named(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *other = open_client(server);
  mortise_lock *foreign = open_lock(other, "foreign");
  mortise_lock *lock = open_lock(client, "twice");
  mortise_lock *same = open_lock(client, "twice");
  mortise_multi *multi = mortise_multi_new(client, NULL);
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_multi_try(multi, error));
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "members");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_multi_add_lock(multi, foreign, error));
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "lock: belongs to another client");
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, lock, NULL));
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_multi_add_lock(multi, same, error));
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "twice");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_multi_add_lock(multi, NULL, error));
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_multi_add_lock(NULL, lock, error));
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_multi_add_semaphore(multi, NULL, 1, error));
  mortise_semaphore *semaphore = open_semaphore(client, "weightless", 2);
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_multi_add_semaphore(multi, semaphore, 0, error));
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "permits: 0");
  CHECK(mortise_multi_new(NULL, error) == NULL);
  CHECK_NUMBER(1, mortise_multi_member_count(multi));
  char name[16];
  mortise_lock *many[MORTISE_MAX_MEMBERS];
  for (int i = 0; i < MORTISE_MAX_MEMBERS; ++i) {
    snprintf(name, sizeof name, "many %d", i);
    many[i] = open_lock(client, name);
    CHECK_STATUS(i < MORTISE_MAX_MEMBERS - 1 ? MORTISE_OK : MORTISE_LIMIT,
                 mortise_multi_add_lock(multi, many[i], error));
  }
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(multi, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_unlock(multi, NULL));
  for (int i = 0; i < MORTISE_MAX_MEMBERS; ++i) mortise_lock_free(many[i]);
  mortise_semaphore_free(semaphore);
  mortise_multi_free(multi);
  mortise_multi_free(NULL);
  mortise_lock_free(foreign);
  mortise_lock_free(lock);
  mortise_lock_free(same);
  mortise_client_free(other);
  mortise_error_free(error);
}

/* Waits for the end of the hold after the one with this token, however short it was. */
static void await_end_of_hold_after(int64_t token, const mortise_lock *lock) {
  while (mortise_lock_token(lock) == token) poll(NULL, 0, 5);
  while (mortise_lock_is_held(lock)) poll(NULL, 0, 5);
}

static void a_lost_member_is_reported(void) {
  struct set set = open_set(0);
  mortise_error *error = mortise_error_new();
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(set.multi, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(set.lock, NULL));
  CHECK_NUMBER(0, mortise_multi_is_held(set.multi));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_multi_unlock(set.multi, error));
  CHECK_CONTAINS(mortise_error_message(error), "b lock");
  CHECK_NUMBER(0, held_keys());

  mortise_options *brief = options_with("renewal", "off");
  CHECK_STATUS(MORTISE_OK, mortise_options_set_lease_ms(brief, 1000, NULL));
  mortise_lock *lapsing = open_lock_with(client, "lapsing", brief);
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(set.multi, lapsing, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(set.multi, patience_ms, NULL));
  while (mortise_lock_is_held(lapsing)) poll(NULL, 0, 5);
  CHECK_NUMBER(0, mortise_multi_is_held(set.multi));
  CHECK_NUMBER(0, mortise_multi_valid_ms(set.multi));
  CHECK_STATUS(MORTISE_LOST, mortise_multi_unlock(set.multi, error));
  CHECK_CONTAINS(mortise_error_message(error), "lapsing");
  CHECK_NUMBER(0, mortise_rw_is_writing(set.rw));

  /* What ends while the rest is waited for makes the whole fail, and nothing of it stays. */
  mortise_rw *reader = open_rw(client, "z rw");
  mortise_rw *writer = open_rw(client, "z rw");
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_writer(set.multi, writer, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(reader, NULL));
  mortise_queue *queue = mortise_queue_new(client, 0, NULL);
  mortise_event *event = mortise_event_new();
  const int64_t token = mortise_lock_token(lapsing);
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire_async(set.multi, queue, 1, patience_ms, NULL));
  await_end_of_hold_after(token, lapsing);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(reader, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_STATUS(MORTISE_LOST, mortise_event_status(event));
  CHECK_CONTAINS(mortise_event_message(event), "lapsing");
  CHECK_NUMBER(0, mortise_rw_is_writing(writer));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_acquire(reader, patience_ms, NULL));

  mortise_rw_free(reader);
  mortise_rw_free(writer);
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_lock_free(lapsing);
  mortise_options_free(brief);
  mortise_error_free(error);
  close_set(&set);
}

/* Hazard 16: what the user acquires with a member that the multi has lost stays the user's. */
static void a_later_hold_of_a_lost_member_is_not_the_multis(void) {
  mortise_options *brief = options_with("renewal", "off");
  CHECK_STATUS(MORTISE_OK, mortise_options_set_lease_ms(brief, 500, NULL));
  mortise_lock *lapsing = open_lock_with(client, "1 lapsing", brief);
  mortise_lock *taken = open_lock(client, "2 taken");
  mortise_lock *holder = open_lock(client, "2 taken");
  mortise_multi *multi = mortise_multi_new(client, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, lapsing, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, taken, NULL));
  mortise_queue *queue = mortise_queue_new(client, 0, NULL);
  mortise_event *event = mortise_event_new();
  for (int is_cancelled = 0; is_cancelled < 2; ++is_cancelled) {
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(holder, patience_ms, NULL));
    const int64_t token = mortise_lock_token(lapsing);
    CHECK_STATUS(MORTISE_OK, mortise_multi_acquire_async(multi, queue, 1, patience_ms, NULL));
    await_end_of_hold_after(token, lapsing);
    do CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lapsing, patience_ms, NULL));
    while (mortise_lock_extend(lapsing, 60000, NULL) != MORTISE_OK);
    if (is_cancelled) CHECK_STATUS(MORTISE_OK, mortise_multi_cancel(multi, NULL));
    CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
    CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
    CHECK_STATUS(is_cancelled ? MORTISE_CANCELLED : MORTISE_LOST, mortise_event_status(event));
    CHECK_NUMBER(0, mortise_multi_is_held(multi));
    CHECK_NUMBER(0, mortise_lock_is_held(taken));
    CHECK_NUMBER(1, mortise_lock_is_held(lapsing));
    CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lapsing, NULL));
  }
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_multi_free(multi);
  mortise_lock_free(holder);
  mortise_lock_free(taken);
  mortise_lock_free(lapsing);
  mortise_options_free(brief);
}

static void *acquire_and_unlock(void *given) {
  mortise_multi *multi = given;
  const mortise_status status = mortise_multi_try(multi, NULL);
  CHECK(status == MORTISE_OK || status == MORTISE_BUSY);
  if (status == MORTISE_OK) CHECK_STATUS(MORTISE_OK, mortise_multi_unlock(multi, NULL));
  return NULL;
}

/* The first acquire of a client begins its helper, which takes a while. A member that is added
 * meanwhile is part of the acquire, or one of the two calls is refused. */
static void a_member_is_added_while_another_thread_acquires(void) {
  mortise_options *options = options_with("release_on_death", "on");
  for (int round = 0; round < 20; ++round) {
    mortise_client *busy = open_client_with(server_url(server), options);
    mortise_lock *first = open_lock(busy, "first");
    mortise_lock *second = open_lock(busy, "second");
    mortise_multi *multi = mortise_multi_new(busy, NULL);
    CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, first, NULL));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, acquire_and_unlock, multi) == 0);
    poll(NULL, 0, round % 4);
    const mortise_status added = mortise_multi_add_lock(multi, second, NULL);
    CHECK(added == MORTISE_OK || added == MORTISE_BUSY);
    CHECK(pthread_join(thread, NULL) == 0);
    mortise_multi_free(multi);
    mortise_lock_free(second);
    mortise_lock_free(first);
    mortise_client_free(busy);
  }
  mortise_options_free(options);
}

/* All of them are held only until the first of them ends, wherever it stands. */
static void it_is_valid_as_long_as_its_shortest_member(void) {
  const char *const leases[3][3] = {
      {"9s", "60s", "120s"}, {"60s", "9s", "120s"}, {"60s", "120s", "9s"}};
  const char *const names[] = {"valid 1", "valid 2", "valid 3"};
  for (int i = 0; i < 3; ++i) {
    mortise_multi *multi = mortise_multi_new(client, NULL);
    mortise_lock *locks[3];
    for (int k = 0; k < 3; ++k) {
      mortise_options *options = options_with("lease", leases[i][k]);
      locks[k] = open_lock_with(client, names[k], options);
      CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, locks[k], NULL));
      mortise_options_free(options);
    }
    CHECK_NUMBER(0, mortise_multi_valid_ms(multi));
    CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(multi, patience_ms, NULL));
    const int64_t valid_ms = mortise_multi_valid_ms(multi);
    CHECK(valid_ms > 0 && valid_ms <= 9000);
    CHECK(valid_ms >= mortise_lock_valid_ms(locks[i]));
    for (int k = 0; k < 3; ++k) CHECK(k == i || mortise_lock_valid_ms(locks[k]) > 20000);
    CHECK_STATUS(MORTISE_OK, mortise_multi_unlock(multi, NULL));
    mortise_multi_free(multi);
    for (int k = 0; k < 3; ++k) mortise_lock_free(locks[k]);
  }
}

static void freeing_gives_back(void) {
  struct set set = open_set(0);
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(set.multi, patience_ms, NULL));
  mortise_multi_free(set.multi);
  set.multi = NULL;
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(set.lock, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(set.lock, NULL));
  CHECK_NUMBER(0, mortise_semaphore_is_held(set.semaphore));
  close_set(&set);
}

struct unlocking {
  mortise_multi *multi;
  mortise_status status;
};

static void *unlock_multi(void *given) {
  struct unlocking *call = given;
  call->status = mortise_multi_unlock(call->multi, NULL);
  return NULL;
}

/* The release goes on without it. */
static void freeing_ends_an_unlock(void) {
  mortise_options *options = options_with("command_timeout", "20s");
  mortise_client *patient = open_client_with(server_url(server), options);
  mortise_lock *locks[] = {open_lock(patient, "unlocked 1"), open_lock(patient, "unlocked 2")};
  struct unlocking call = {mortise_multi_new(patient, NULL), MORTISE_OK};
  pthread_t thread;
  for (int i = 0; i < 2; ++i) {
    CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(call.multi, locks[i], NULL));
  }
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(call.multi, patience_ms, NULL));
  server_pause(server);
  CHECK(pthread_create(&thread, NULL, unlock_multi, &call) == 0);
  while (mortise_multi_try(call.multi, NULL) != MORTISE_BUSY) poll(NULL, 0, 1);
  mortise_multi_free(call.multi);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_STATUS(MORTISE_CLOSED, call.status);
  server_resume(server);
  server_wait_for_exactly(server, "EXISTS {mortise:unlocked 1} {mortise:unlocked 2}", 0);
  for (int i = 0; i < 2; ++i) mortise_lock_free(locks[i]);
  mortise_client_free(patient);
  mortise_options_free(options);
}

/* Two multis with the same names, added in opposite orders, in two threads. */
struct rival {
  mortise_client *client;
  int is_reversed;
  int rounds;
};

static void *compete(void *given) {
  struct rival *rival = given;
  mortise_lock *first = open_lock(rival->client, rival->is_reversed ? "rival 2" : "rival 1");
  mortise_lock *second = open_lock(rival->client, rival->is_reversed ? "rival 1" : "rival 2");
  mortise_multi *multi = mortise_multi_new(rival->client, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, second, NULL));
  for (; rival->rounds < 200; ++rival->rounds) {
    CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(multi, patience_ms, NULL));
    CHECK_STATUS(MORTISE_OK, mortise_multi_unlock(multi, NULL));
  }
  mortise_multi_free(multi);
  mortise_lock_free(first);
  mortise_lock_free(second);
  return NULL;
}

static void opposite_orders_do_not_deadlock(void) {
  mortise_client *other = open_client(server);
  struct rival rivals[2] = {{client, 0, 0}, {other, 1, 0}};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, compete, &rivals[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  mortise_client_free(other);
}

static void closing_the_client_ends_a_wait(void) {
  mortise_client *short_lived = open_client(server);
  mortise_lock *holder = open_lock(client, "closing");
  mortise_lock *lock = open_lock(short_lived, "closing");
  mortise_multi *multi = mortise_multi_new(short_lived, NULL);
  mortise_queue *queue = mortise_queue_new(short_lived, 0, NULL);
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(holder, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire_async(multi, queue, 1, MORTISE_FOREVER, NULL));
  mortise_client_free(short_lived);
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_STATUS(MORTISE_CLOSED, mortise_event_status(event));
  CHECK_STATUS(MORTISE_CLOSED, mortise_multi_try(multi, NULL));
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_multi_free(multi);
  mortise_lock_free(lock);
  mortise_lock_free(holder);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  RUN(all_are_held_and_all_are_released);
  RUN(one_in_the_way_leaves_nothing_behind);
  RUN(a_member_that_was_changed_by_itself_stays_a_part);
  RUN(an_unlock_ends_the_upgrade_of_a_member);
  RUN(a_wait_is_cancelled_whole);
  RUN(a_wait_costs_no_member_its_lease);
  RUN(bad_members_are_named);
  RUN(a_lost_member_is_reported);
  RUN(a_later_hold_of_a_lost_member_is_not_the_multis);
  RUN(a_member_is_added_while_another_thread_acquires);
  RUN(it_is_valid_as_long_as_its_shortest_member);
  RUN(freeing_gives_back);
  RUN(freeing_ends_an_unlock);
  RUN(opposite_orders_do_not_deadlock);
  RUN(closing_the_client_ends_a_wait);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
