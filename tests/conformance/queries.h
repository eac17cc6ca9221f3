/* What the server knows, asked in this thread or in another. */

/* How many of the holders that are shown retain what they have. */
static int64_t retained_in(const mortise_info *info) {
  int64_t count = 0;
  for (int64_t i = 0; i < mortise_info_shown_holder_count(info); ++i) {
    count += mortise_info_entry_is_retained(info, i);
  }
  return count;
}

static int64_t number_of(const mortise_info *info, const char *of) {
  if (strcmp(of, "is_held") == 0) return mortise_info_is_held(info);
  if (strcmp(of, "is_mine") == 0) return mortise_info_is_mine(info);
  if (strcmp(of, "holder_count") == 0) return mortise_info_holder_count(info);
  if (strcmp(of, "permits") == 0) return mortise_info_permits(info);
  if (strcmp(of, "permits_in_use") == 0) return mortise_info_permits_in_use(info);
  if (strcmp(of, "retained") == 0) return retained_in(info);
  return mortise_info_waiter_count(info);
}

typedef mortise_status (*query_function)(void *object, mortise_info *info, mortise_error *error);

static void query_into(struct call *call, query_function ask) {
  mortise_info *info = mortise_info_new();
  call->status = ask(call->object, info, error);
  call->value = number_of(info, call->of);
  if (strcmp(call->of, "label") == 0) {
    snprintf(call->label, sizeof call->label, "%s", mortise_info_entry_label(info, 0));
  }
  if (strcmp(call->of, "value") == 0) {
    snprintf(call->label, sizeof call->label, "%s", mortise_info_entry_value(info, 0));
    call->value = (int64_t)strlen(call->label);
  }
  mortise_info_free(info);
}

static mortise_status query_lock(void *lock, mortise_info *info, mortise_error *problem) {
  return mortise_lock_query(lock, info, problem);
}
static mortise_status query_rw(void *rw, mortise_info *info, mortise_error *problem) {
  return mortise_rw_query(rw, info, problem);
}
static mortise_status query_semaphore(void *semaphore, mortise_info *info, mortise_error *problem) {
  return mortise_semaphore_query(semaphore, info, problem);
}

static mortise_status query_election(void *election, mortise_info *info, mortise_error *problem) {
  return mortise_election_query(election, info, problem);
}

static query_function query_of(enum kind kind) {
  if (kind == ELECTION) return query_election;
  return kind == LOCK ? query_lock : kind == RW ? query_rw : query_semaphore;
}

/* Ends the hold of the owner that is given, or of the first that the server knows of. */
static void force_release(struct call *call, enum kind kind) {
  mortise_info *info = mortise_info_new();
  const char *owner = call->owner != NULL ? call->owner->value : NULL;
  if (owner == NULL && query_of(kind)(call->object, info, error) == MORTISE_OK) {
    owner = mortise_info_entry_owner(info, 0);
  }
  const size_t length = owner == NULL ? 0 : strlen(owner);
  if (kind == LOCK) call->status = mortise_lock_force_release(call->object, owner, length, error);
  if (kind == RW) call->status = mortise_rw_force_release(call->object, owner, length, error);
  if (kind == SEMAPHORE) {
    call->status = mortise_semaphore_force_release(call->object, owner, length, error);
  }
  if (kind == ELECTION) {
    call->status = mortise_election_force_release(call->object, owner, length, error);
  }
  mortise_info_free(info);
}

/* One that runs in a thread of its own. */
struct query {
  query_function ask;
  void *object;
  int64_t id;
};

static void *run_query(void *given) {
  struct query *query = given;
  mortise_info *info = mortise_info_new();
  mortise_error *problem = mortise_error_new();
  const mortise_status status = query->ask(query->object, info, problem);
  flockfile(stdout);
  printf("done %" PRId64 " %s", query->id, words_status(status));
  if (status < 0) {
    printf(" retryable=%" PRId32 " ambiguous=%" PRId32, mortise_error_is_retryable(problem),
           mortise_error_is_ambiguous(problem));
  }
  words_print("text", mortise_error_message(problem));
  putchar('\n');
  fflush(stdout);
  funlockfile(stdout);
  mortise_error_free(problem);
  mortise_info_free(info);
  free(query);
  return NULL;
}

/* Whether the call is a query, which C has no asynchronous form of. */
static int start_query(const struct handle *handle, const char *method, struct call *call) {
  if (strcmp(method, "query") != 0) return 0;
  struct query *query = malloc(sizeof *query);
  *query = (struct query){query_of(handle->kind), call->object, call->tag - MOST_HANDLES};
  pthread_t thread;
  if (pthread_create(&thread, NULL, run_query, query) != 0) exit(2);
  pthread_detach(thread);
  return 1;
}

/* What was found when the server was checked: of all, as JSON, or first of one matter. */
static void report_health(struct call *call, mortise_health *found) {
  static char text[65536];
  call->status = mortise_error_status(error);
  if (found == NULL) return;
  call->text = text;
  text[0] = '\0';
  if (call->of[0] == '\0') call->value = mortise_health_worst(found);
  if (strcmp(call->of, "json") == 0) {
    call->value = mortise_health_count(found);
    snprintf(text, sizeof text, "%s", mortise_health_json(found));
  }
  for (int64_t i = 0; i < mortise_health_count(found); ++i) {
    if (strcmp(mortise_health_name(found, i), call->of) != 0) continue;
    call->value = mortise_health_severity(found, i);
    snprintf(text, sizeof text, "%s\n%s\n%s\n%s\n%s",
             mortise_severity_text(mortise_health_severity(found, i)),
             mortise_health_server(found, i), mortise_health_value(found, i),
             mortise_health_consequence(found, i), mortise_health_remedy(found, i));
    break;
  }
  mortise_health_free(found);
}

/* Whether the sample is `of`: its name, and behind it its labels as ` label=value` each. */
static int is_sample(const mortise_stats *counted, int64_t sample, const char *of) {
  char text[512];
  size_t used = (size_t)snprintf(text, sizeof text, "%s", mortise_stats_name(counted, sample));
  for (int64_t i = 0; i < mortise_stats_label_count(counted, sample) && used < sizeof text; ++i) {
    used += (size_t)snprintf(text + used, sizeof text - used, " %s=%s",
                             mortise_stats_label_name(counted, sample, i),
                             mortise_stats_label_value(counted, sample, i));
  }
  return strcmp(text, of) == 0;
}

/* What the client has counted: how much, as JSON, or one sample. */
static void report_stats(struct call *call, mortise_stats *counted) {
  static char text[65536];
  call->status = mortise_error_status(error);
  if (counted == NULL) return;
  call->text = text;
  text[0] = '\0';
  if (call->of[0] == '\0') {
    call->value = mortise_stats_count(counted);
    snprintf(text, sizeof text, "%s", mortise_stats_json(counted));
  }
  for (int64_t i = 0; i < mortise_stats_count(counted); ++i) {
    if (!is_sample(counted, i, call->of)) continue;
    call->value = (int64_t)mortise_stats_value(counted, i);
    snprintf(text, sizeof text, "%s", mortise_stats_type(counted, i));
  }
  mortise_stats_free(counted);
}

/* The answers of all clients: how many, as JSON, or one field of all entries: a number's sum,
 * and a text's one a line. */
static void report_listing(struct call *call, mortise_listing *taken) {
  static char text[65536];
  const size_t of_len = strlen(call->of);
  size_t used = 0;
  call->status = mortise_error_status(error);
  if (taken == NULL) return;
  call->text = text;
  text[0] = '\0';
  if (call->of[0] == '\0') {
    call->value = mortise_listing_answered(taken);
    snprintf(text, sizeof text, "%s", mortise_listing_json(taken));
  } else if (strcmp(call->of, "unheard") == 0) {
    call->value = mortise_listing_silent(taken) + mortise_listing_truncated(taken);
  } else {
    call->value = 0;
    for (int64_t i = 0; i < mortise_listing_count(taken); ++i) {
      call->value += mortise_listing_number(taken, i, call->of, of_len);
      used += (size_t)snprintf(text + used, sizeof text - used, "%s\n",
                               mortise_listing_text(taken, i, call->of, of_len));
      if (used >= sizeof text) break;
    }
  }
  mortise_listing_free(taken);
}

static int call_health(const char *method, struct call *call) {
  if (strcmp(method, "stats") == 0) {
    report_stats(call, mortise_client_stats(call->object, error));
    return 1;
  }
  if (strcmp(method, "list_locks") == 0) {
    report_listing(call, mortise_client_list_locks(call->object, call->timeout_ms, error));
    return 1;
  }
  if (strcmp(method, "scan_locks") == 0) {
    const char *pattern = call->pattern != NULL ? call->pattern->value : "";
    report_listing(call, mortise_client_scan_locks(call->object, pattern, strlen(pattern),
                                                   call->most_keys, call->timeout_ms, error));
    return 1;
  }
  if (strcmp(method, "list_history") == 0) {
    const char *name = call->lock != NULL ? call->lock->value : "";
    report_listing(call, mortise_client_list_history(call->object, name, strlen(name),
                                                     call->window_ms, call->timeout_ms, error));
    return 1;
  }
  if (strcmp(method, "check_health") == 0) {
    report_health(call, mortise_client_check_health(call->object, error));
    return 1;
  }
  if (strcmp(method, "last_health") == 0) {
    report_health(call, mortise_client_last_health(call->object, error));
    return 1;
  }
  return 0;
}
