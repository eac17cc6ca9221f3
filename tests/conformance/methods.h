/* Every call of the ABI that a scenario can name, by kind and form. */
#include "election_methods.h"

static void lock_interrupt(struct call *call) {
  call->status = mortise_lock_interrupt(call->object, call->is_on, error);
}
static void lock_set_task(struct call *call) {
  call->status = mortise_lock_set_task(call->object, call->task, error);
}
static void lock_deadline_ns(struct call *call) {
  call->value = mortise_lock_deadline_ns(call->object);
}
static void lock_name(struct call *call) { call->text = mortise_lock_name(call->object, NULL); }
static void rw_interrupt(struct call *call) {
  call->status = mortise_rw_interrupt(call->object, call->is_on, error);
}
static void rw_set_task(struct call *call) {
  call->status = mortise_rw_set_task(call->object, call->task, error);
}
static void rw_deadline_ns(struct call *call) {
  call->value = mortise_rw_deadline_ns(call->object);
}
static void rw_name(struct call *call) { call->text = mortise_rw_name(call->object, NULL); }
static void semaphore_interrupt(struct call *call) {
  call->status = mortise_semaphore_interrupt(call->object, call->is_on, error);
}
static void semaphore_set_task(struct call *call) {
  call->status = mortise_semaphore_set_task(call->object, call->task, error);
}
static void semaphore_deadline_ns(struct call *call) {
  call->value = mortise_semaphore_deadline_ns(call->object);
}
static void semaphore_name(struct call *call) {
  call->text = mortise_semaphore_name(call->object, NULL);
}
static void multi_interrupt(struct call *call) {
  call->status = mortise_multi_interrupt(call->object, call->is_on, error);
}
static void multi_set_task(struct call *call) {
  call->status = mortise_multi_set_task(call->object, call->task, error);
}
static void multi_deadline_ns(struct call *call) {
  call->value = mortise_multi_deadline_ns(call->object);
}
static void lock_try(struct call *call) {
  call->status = mortise_lock_try(call->object, error);
  call->token = mortise_lock_token(call->object);
}
static void lock_try_async(struct call *call) {
  call->status = mortise_lock_try_async(call->object, queue, call->tag, error);
}
static void lock_acquire(struct call *call) {
  call->status = mortise_lock_acquire(call->object, call->timeout_ms, error);
  call->token = mortise_lock_token(call->object);
}
static void lock_acquire_async(struct call *call) {
  call->status =
      mortise_lock_acquire_async(call->object, queue, call->tag, call->timeout_ms, error);
}
static void lock_unlock(struct call *call) {
  call->status = mortise_lock_unlock(call->object, error);
}
static void lock_unlock_async(struct call *call) {
  call->status = mortise_lock_unlock_async(call->object, queue, call->tag, error);
}
static void rw_read_try(struct call *call) {
  call->status = mortise_rw_read_try(call->object, error);
  call->token = mortise_rw_token(call->object);
}
static void rw_read_try_async(struct call *call) {
  call->status = mortise_rw_read_try_async(call->object, queue, call->tag, error);
}
static void rw_read_acquire(struct call *call) {
  call->status = mortise_rw_read_acquire(call->object, call->timeout_ms, error);
  call->token = mortise_rw_token(call->object);
}
static void rw_read_acquire_async(struct call *call) {
  call->status =
      mortise_rw_read_acquire_async(call->object, queue, call->tag, call->timeout_ms, error);
}
static void rw_read_unlock(struct call *call) {
  call->status = mortise_rw_read_unlock(call->object, error);
}
static void rw_read_unlock_async(struct call *call) {
  call->status = mortise_rw_read_unlock_async(call->object, queue, call->tag, error);
}
static void rw_write_try(struct call *call) {
  call->status = mortise_rw_write_try(call->object, error);
  call->token = mortise_rw_token(call->object);
}
static void rw_write_try_async(struct call *call) {
  call->status = mortise_rw_write_try_async(call->object, queue, call->tag, error);
}
static void rw_write_acquire(struct call *call) {
  call->status = mortise_rw_write_acquire(call->object, call->timeout_ms, error);
  call->token = mortise_rw_token(call->object);
}
static void rw_write_acquire_async(struct call *call) {
  call->status =
      mortise_rw_write_acquire_async(call->object, queue, call->tag, call->timeout_ms, error);
}
static void rw_write_unlock(struct call *call) {
  call->status = mortise_rw_write_unlock(call->object, error);
}
static void rw_write_unlock_async(struct call *call) {
  call->status = mortise_rw_write_unlock_async(call->object, queue, call->tag, error);
}
static void semaphore_try(struct call *call) {
  call->status = mortise_semaphore_try(call->object, call->weight, error);
  call->token = mortise_semaphore_token(call->object);
}
static void semaphore_try_async(struct call *call) {
  call->status = mortise_semaphore_try_async(call->object, queue, call->tag, call->weight, error);
}
static void semaphore_acquire(struct call *call) {
  call->status = mortise_semaphore_acquire(call->object, call->weight, call->timeout_ms, error);
  call->token = mortise_semaphore_token(call->object);
}
static void semaphore_acquire_async(struct call *call) {
  call->status = mortise_semaphore_acquire_async(call->object, queue, call->tag, call->weight,
                                                 call->timeout_ms, error);
}
static void semaphore_release(struct call *call) {
  call->status = mortise_semaphore_release(call->object, error);
}
static void semaphore_release_async(struct call *call) {
  call->status = mortise_semaphore_release_async(call->object, queue, call->tag, error);
}
static void semaphore_resize(struct call *call) {
  call->status = mortise_semaphore_resize(call->object, call->permits, error);
}
static void multi_try(struct call *call) { call->status = mortise_multi_try(call->object, error); }
static void multi_try_async(struct call *call) {
  call->status = mortise_multi_try_async(call->object, queue, call->tag, error);
}
static void multi_acquire(struct call *call) {
  call->status = mortise_multi_acquire(call->object, call->timeout_ms, error);
}
static void multi_acquire_async(struct call *call) {
  call->status =
      mortise_multi_acquire_async(call->object, queue, call->tag, call->timeout_ms, error);
}
static void multi_unlock(struct call *call) {
  call->status = mortise_multi_unlock(call->object, error);
}
static void multi_unlock_async(struct call *call) {
  call->status = mortise_multi_unlock_async(call->object, queue, call->tag, error);
}
static void multi_extend(struct call *call) {
  call->status = mortise_multi_extend(call->object, call->lease_ms, error);
}
static void multi_extend_async(struct call *call) {
  call->status = mortise_multi_extend_async(call->object, queue, call->tag, call->lease_ms, error);
}
static void rw_upgrade(struct call *call) {
  call->status = mortise_rw_upgrade(call->object, error);
  call->token = mortise_rw_token(call->object);
}
static void rw_upgrade_async(struct call *call) {
  call->status = mortise_rw_upgrade_async(call->object, queue, call->tag, error);
}
static void rw_downgrade(struct call *call) {
  call->status = mortise_rw_downgrade(call->object, error);
  call->token = mortise_rw_token(call->object);
}
static void rw_downgrade_async(struct call *call) {
  call->status = mortise_rw_downgrade_async(call->object, queue, call->tag, error);
}
static void lock_extend(struct call *call) {
  call->status = mortise_lock_extend(call->object, call->lease_ms, error);
  call->token = mortise_lock_token(call->object);
}
static void lock_extend_async(struct call *call) {
  call->status = mortise_lock_extend_async(call->object, queue, call->tag, call->lease_ms, error);
}
static void lock_set_value(struct call *call) {
  call->status = mortise_lock_set_value(call->object, call->given->value, call->given->size, error);
}
static void lock_set_value_async(struct call *call) {
  call->status = mortise_lock_set_value_async(call->object, queue, call->tag, call->given->value,
                                              call->given->size, error);
}
static void lock_valid_ms(struct call *call) { call->value = mortise_lock_valid_ms(call->object); }
static void lock_token(struct call *call) { call->value = mortise_lock_token(call->object); }
static void rw_extend(struct call *call) {
  call->status = mortise_rw_extend(call->object, call->lease_ms, error);
  call->token = mortise_rw_token(call->object);
}
static void rw_extend_async(struct call *call) {
  call->status = mortise_rw_extend_async(call->object, queue, call->tag, call->lease_ms, error);
}
static void rw_set_value(struct call *call) {
  call->status = mortise_rw_set_value(call->object, call->given->value, call->given->size, error);
}
static void rw_set_value_async(struct call *call) {
  call->status = mortise_rw_set_value_async(call->object, queue, call->tag, call->given->value,
                                            call->given->size, error);
}
static void rw_valid_ms(struct call *call) { call->value = mortise_rw_valid_ms(call->object); }
static void rw_token(struct call *call) { call->value = mortise_rw_token(call->object); }
static void semaphore_extend(struct call *call) {
  call->status = mortise_semaphore_extend(call->object, call->lease_ms, error);
  call->token = mortise_semaphore_token(call->object);
}
static void semaphore_extend_async(struct call *call) {
  call->status =
      mortise_semaphore_extend_async(call->object, queue, call->tag, call->lease_ms, error);
}
static void semaphore_set_value(struct call *call) {
  call->status =
      mortise_semaphore_set_value(call->object, call->given->value, call->given->size, error);
}
static void semaphore_set_value_async(struct call *call) {
  call->status = mortise_semaphore_set_value_async(call->object, queue, call->tag,
                                                   call->given->value, call->given->size, error);
}
static void semaphore_valid_ms(struct call *call) {
  call->value = mortise_semaphore_valid_ms(call->object);
}
static void semaphore_token(struct call *call) {
  call->value = mortise_semaphore_token(call->object);
}
static void lock_progress(struct call *call) {
  call->status = mortise_lock_progress(call->object, error);
  call->token = mortise_lock_token(call->object);
}
static void rw_progress(struct call *call) {
  call->status = mortise_rw_progress(call->object, error);
  call->token = mortise_rw_token(call->object);
}
static void semaphore_progress(struct call *call) {
  call->status = mortise_semaphore_progress(call->object, error);
  call->token = mortise_semaphore_token(call->object);
}
static void multi_progress(struct call *call) {
  call->status = mortise_multi_progress(call->object, error);
}
/* The text is valid until the next export. */
static const char *keep_text(const mortise_hold_id *id) {
  static char text[4096];
  snprintf(text, sizeof text, "%s", mortise_hold_id_text(id));
  return text;
}
static void came_to_id(struct call *call, mortise_hold_id *id) {
  call->status = id != NULL ? MORTISE_OK : mortise_error_status(error);
  if (id != NULL) call->text = keep_text(id);
  mortise_hold_id_free(id);
}
static void lock_export(struct call *call) {
  came_to_id(call, mortise_lock_export(call->object, call->lease_ms, error));
}
static void lock_adopt(struct call *call) {
  call->status = mortise_lock_adopt(call->object, call->id->value, call->id->size, error);
  call->token = mortise_lock_token(call->object);
}
static void rw_export(struct call *call) {
  came_to_id(call, mortise_rw_export(call->object, call->lease_ms, error));
}
static void rw_adopt(struct call *call) {
  call->status = mortise_rw_adopt(call->object, call->id->value, call->id->size, error);
  call->token = mortise_rw_token(call->object);
}
static void semaphore_export(struct call *call) {
  came_to_id(call, mortise_semaphore_export(call->object, call->lease_ms, error));
}
static void semaphore_adopt(struct call *call) {
  call->status = mortise_semaphore_adopt(call->object, call->id->value, call->id->size, error);
  call->token = mortise_semaphore_token(call->object);
}
static void lock_cancel(struct call *call) {
  call->status = mortise_lock_cancel(call->object, error);
}
static void rw_cancel(struct call *call) { call->status = mortise_rw_cancel(call->object, error); }
static void semaphore_cancel(struct call *call) {
  call->status = mortise_semaphore_cancel(call->object, error);
}
static void multi_cancel(struct call *call) {
  call->status = mortise_multi_cancel(call->object, error);
}
static void lock_is_held(struct call *call) { call->value = mortise_lock_is_held(call->object); }
static void semaphore_is_held(struct call *call) {
  call->value = mortise_semaphore_is_held(call->object);
}
static void multi_is_held(struct call *call) { call->value = mortise_multi_is_held(call->object); }
static void multi_valid_ms(struct call *call) {
  call->value = mortise_multi_valid_ms(call->object);
}
static void multi_member_count(struct call *call) {
  call->value = mortise_multi_member_count(call->object);
}
static void rw_is_reading(struct call *call) { call->value = mortise_rw_is_reading(call->object); }
static void rw_is_writing(struct call *call) { call->value = mortise_rw_is_writing(call->object); }
static void client_free(struct call *call) {
  mortise_client_free(call->object);
  call->status = MORTISE_OK;
}
static void lock_free(struct call *call) {
  mortise_lock_free(call->object);
  call->status = MORTISE_OK;
}
static void rw_free(struct call *call) {
  mortise_rw_free(call->object);
  call->status = MORTISE_OK;
}
static void semaphore_free(struct call *call) {
  mortise_semaphore_free(call->object);
  call->status = MORTISE_OK;
}
static void multi_free(struct call *call) {
  mortise_multi_free(call->object);
  call->status = MORTISE_OK;
}
static void client_ping(struct call *call) {
  call->status = mortise_client_ping(call->object, error);
}
static void client_set_credentials(struct call *call) {
  call->status = mortise_client_set_credentials(call->object, call->user->value, call->user->size,
                                                call->password->value, call->password->size, error);
}

struct method {
  enum kind kind;
  const char *name;
  int is_async;
  void (*run)(struct call *call);
};

static const struct method methods[] = {
    {LOCK, "try", 0, lock_try},
    {LOCK, "try", 1, lock_try_async},
    {LOCK, "acquire", 0, lock_acquire},
    {LOCK, "acquire", 1, lock_acquire_async},
    {LOCK, "unlock", 0, lock_unlock},
    {LOCK, "unlock", 1, lock_unlock_async},
    {RW, "read_try", 0, rw_read_try},
    {RW, "read_try", 1, rw_read_try_async},
    {RW, "read_acquire", 0, rw_read_acquire},
    {RW, "read_acquire", 1, rw_read_acquire_async},
    {RW, "read_unlock", 0, rw_read_unlock},
    {RW, "read_unlock", 1, rw_read_unlock_async},
    {RW, "write_try", 0, rw_write_try},
    {RW, "write_try", 1, rw_write_try_async},
    {RW, "write_acquire", 0, rw_write_acquire},
    {RW, "write_acquire", 1, rw_write_acquire_async},
    {RW, "write_unlock", 0, rw_write_unlock},
    {RW, "write_unlock", 1, rw_write_unlock_async},
    {SEMAPHORE, "try", 0, semaphore_try},
    {SEMAPHORE, "try", 1, semaphore_try_async},
    {SEMAPHORE, "acquire", 0, semaphore_acquire},
    {SEMAPHORE, "acquire", 1, semaphore_acquire_async},
    {SEMAPHORE, "release", 0, semaphore_release},
    {SEMAPHORE, "release", 1, semaphore_release_async},
    {SEMAPHORE, "resize", 0, semaphore_resize},
    {MULTI, "try", 0, multi_try},
    {MULTI, "try", 1, multi_try_async},
    {MULTI, "acquire", 0, multi_acquire},
    {MULTI, "acquire", 1, multi_acquire_async},
    {MULTI, "unlock", 0, multi_unlock},
    {MULTI, "unlock", 1, multi_unlock_async},
    {MULTI, "extend", 0, multi_extend},
    {MULTI, "extend", 1, multi_extend_async},
    {RW, "upgrade", 0, rw_upgrade},
    {RW, "upgrade", 1, rw_upgrade_async},
    {RW, "downgrade", 0, rw_downgrade},
    {RW, "downgrade", 1, rw_downgrade_async},
    {LOCK, "extend", 0, lock_extend},
    {LOCK, "extend", 1, lock_extend_async},
    {LOCK, "set_value", 0, lock_set_value},
    {LOCK, "set_value", 1, lock_set_value_async},
    {LOCK, "valid_ms", 0, lock_valid_ms},
    {LOCK, "token", 0, lock_token},
    {RW, "extend", 0, rw_extend},
    {RW, "extend", 1, rw_extend_async},
    {RW, "set_value", 0, rw_set_value},
    {RW, "set_value", 1, rw_set_value_async},
    {RW, "valid_ms", 0, rw_valid_ms},
    {RW, "token", 0, rw_token},
    {SEMAPHORE, "extend", 0, semaphore_extend},
    {SEMAPHORE, "extend", 1, semaphore_extend_async},
    {SEMAPHORE, "set_value", 0, semaphore_set_value},
    {SEMAPHORE, "set_value", 1, semaphore_set_value_async},
    {SEMAPHORE, "valid_ms", 0, semaphore_valid_ms},
    {SEMAPHORE, "token", 0, semaphore_token},
    {LOCK, "interrupt", 0, lock_interrupt},
    {LOCK, "set_task", 0, lock_set_task},
    {LOCK, "deadline_ns", 0, lock_deadline_ns},
    {LOCK, "name", 0, lock_name},
    {RW, "interrupt", 0, rw_interrupt},
    {RW, "set_task", 0, rw_set_task},
    {RW, "deadline_ns", 0, rw_deadline_ns},
    {RW, "name", 0, rw_name},
    {SEMAPHORE, "interrupt", 0, semaphore_interrupt},
    {SEMAPHORE, "set_task", 0, semaphore_set_task},
    {SEMAPHORE, "deadline_ns", 0, semaphore_deadline_ns},
    {SEMAPHORE, "name", 0, semaphore_name},
    {MULTI, "interrupt", 0, multi_interrupt},
    {MULTI, "set_task", 0, multi_set_task},
    {MULTI, "deadline_ns", 0, multi_deadline_ns},
    {LOCK, "progress", 0, lock_progress},
    {LOCK, "export", 0, lock_export},
    {LOCK, "adopt", 0, lock_adopt},
    {LOCK, "cancel", 0, lock_cancel},
    {RW, "progress", 0, rw_progress},
    {RW, "export", 0, rw_export},
    {RW, "adopt", 0, rw_adopt},
    {RW, "cancel", 0, rw_cancel},
    {SEMAPHORE, "progress", 0, semaphore_progress},
    {SEMAPHORE, "export", 0, semaphore_export},
    {SEMAPHORE, "adopt", 0, semaphore_adopt},
    {SEMAPHORE, "cancel", 0, semaphore_cancel},
    {MULTI, "progress", 0, multi_progress},
    {MULTI, "cancel", 0, multi_cancel},
    {LOCK, "is_held", 0, lock_is_held},
    {SEMAPHORE, "is_held", 0, semaphore_is_held},
    {MULTI, "is_held", 0, multi_is_held},
    {MULTI, "valid_ms", 0, multi_valid_ms},
    {MULTI, "member_count", 0, multi_member_count},
    {RW, "is_reading", 0, rw_is_reading},
    {RW, "is_writing", 0, rw_is_writing},
    {CLIENT, "free", 0, client_free},
    {LOCK, "free", 0, lock_free},
    {RW, "free", 0, rw_free},
    {SEMAPHORE, "free", 0, semaphore_free},
    {MULTI, "free", 0, multi_free},
    {ELECTION, "campaign", 0, election_campaign},
    {ELECTION, "campaign", 1, election_campaign_async},
    {ELECTION, "resign", 0, election_resign},
    {ELECTION, "resign", 1, election_resign_async},
    {ELECTION, "extend", 0, election_extend},
    {ELECTION, "extend", 1, election_extend_async},
    {ELECTION, "progress", 0, election_progress},
    {ELECTION, "set_value", 0, election_set_value},
    {ELECTION, "set_value", 1, election_set_value_async},
    {ELECTION, "cancel", 0, election_cancel},
    {ELECTION, "interrupt", 0, election_interrupt},
    {ELECTION, "set_task", 0, election_set_task},
    {ELECTION, "name", 0, election_name},
    {ELECTION, "is_leader", 0, election_is_leader},
    {ELECTION, "valid_ms", 0, election_valid_ms},
    {ELECTION, "deadline_ns", 0, election_deadline_ns},
    {ELECTION, "token", 0, election_token},
    {ELECTION, "free", 0, election_free},
    {CLIENT, "ping", 0, client_ping},
    {CLIENT, "set_credentials", 0, client_set_credentials},
};

static const struct method *find_method(enum kind kind, const char *name, int is_async) {
  for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i) {
    const struct method *method = &methods[i];
    const int fits = method->kind == kind && method->is_async == is_async;
    if (fits && strcmp(method->name, name) == 0) return method;
  }
  return NULL;
}
