/* C has no object for a hold. A name stands for the result of a handle's acquire in a scenario. */

struct hold {
  char name[64];
  const struct handle *handle;
  const char *ending; /* the handle's method that ends it */
  int64_t token;
  int64_t number;
  int is_over;
};

static struct hold holds[MOST_HANDLES];
static int hold_count;

static struct hold *find_hold(const char *name) {
  for (int i = 0; i < hold_count; ++i) {
    if (strcmp(holds[i].name, name) == 0) return &holds[i];
  }
  return NULL;
}

static const char *ending_of(const struct handle *handle, const char *acquire) {
  if (handle->kind == SEMAPHORE) return "release";
  if (handle->kind == ELECTION) return "resign";
  if (handle->kind != RW) return "unlock";
  if (strcmp(acquire, "adopt") == 0) {
    return mortise_rw_is_writing(handle->object) ? "write_unlock" : "read_unlock";
  }
  return strncmp(acquire, "read", 4) == 0 ? "read_unlock" : "write_unlock";
}

static int64_t hold_number_of(const struct handle *handle) {
  if (handle->kind == LOCK) return mortise_lock_hold_number(handle->object);
  if (handle->kind == RW) return mortise_rw_hold_number(handle->object);
  if (handle->kind == SEMAPHORE) return mortise_semaphore_hold_number(handle->object);
  if (handle->kind == ELECTION) return mortise_election_hold_number(handle->object);
  return mortise_multi_hold_number(handle->object);
}

/* Never a later hold of the same handle. */
static mortise_status unlock_hold(const struct hold *hold) {
  void *const object = hold->handle->object;
  if (hold->handle->kind == LOCK) return mortise_lock_unlock_hold(object, hold->number, error);
  if (hold->handle->kind == MULTI) return mortise_multi_unlock_hold(object, hold->number, error);
  if (hold->handle->kind == ELECTION) {
    return mortise_election_resign_hold(object, hold->number, error);
  }
  if (hold->handle->kind == SEMAPHORE) {
    return mortise_semaphore_release_hold(object, hold->number, error);
  }
  return strcmp(hold->ending, "read_unlock") == 0
             ? mortise_rw_read_unlock_hold(object, hold->number, error)
             : mortise_rw_write_unlock_hold(object, hold->number, error);
}

static void add_hold(const char *name, const struct handle *handle, const char *acquire,
                     int64_t token) {
  struct hold *hold = find_hold(name);
  if (hold == NULL && hold_count < MOST_HANDLES) hold = &holds[hold_count++];
  if (hold == NULL) exit(2);
  snprintf(hold->name, sizeof hold->name, "%s", name);
  hold->handle = handle;
  hold->ending = ending_of(handle, acquire);
  hold->token = token;
  hold->number = hold_number_of(handle);
  hold->is_over = 0;
}

/* The method of the handle for one of the hold. */
static const char *method_of_hold(const struct hold *hold, const char *method) {
  const int is_rw = hold->handle->kind == RW;
  if (strcmp(method, "unlock") == 0) return hold->ending;
  if (hold->handle->kind == ELECTION && strcmp(method, "is_held") == 0) return "is_leader";
  if (is_rw && strcmp(method, "is_held") == 0) {
    return strcmp(hold->ending, "read_unlock") == 0 ? "is_reading" : "is_writing";
  }
  return method;
}

/* What a call on a hold that has ended comes to: the handle may have another by now. */
static void call_ended_hold(const struct hold *hold, const char *method, struct call *call) {
  if (strcmp(method, "token") == 0) {
    call->value = hold->token;
  } else if (strcmp(method, "is_held") == 0 || strcmp(method, "valid_ms") == 0) {
    call->value = 0;
  } else {
    call->status = hold->is_over ? MORTISE_NOT_OWNER : MORTISE_LOST;
  }
}

/* Takes note of what a call on it has made of the hold. */
static void change_hold(struct hold *hold, const char *method, const struct call *call) {
  const int is_done = call->status == MORTISE_OK;
  if (strcmp(method, "unlock") == 0) hold->is_over = call->status != MORTISE_BUSY;
  if (strcmp(method, "export") == 0 && is_done) hold->is_over = 1;
  if (strcmp(method, "downgrade") == 0 && is_done) hold->ending = "read_unlock";
  if (strcmp(method, "upgrade") == 0 && is_done) {
    hold->ending = "write_unlock";
    hold->token = call->token;
  }
}
