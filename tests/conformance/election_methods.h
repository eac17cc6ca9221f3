/* The calls of an election, which the table in methods.h has. */

static void election_campaign(struct call *call) {
  call->status = mortise_election_campaign(call->object, call->timeout_ms, error);
  call->token = mortise_election_token(call->object);
}
static void election_campaign_async(struct call *call) {
  call->status =
      mortise_election_campaign_async(call->object, queue, call->tag, call->timeout_ms, error);
}
static void election_resign(struct call *call) {
  call->status = mortise_election_resign(call->object, error);
}
static void election_resign_async(struct call *call) {
  call->status = mortise_election_resign_async(call->object, queue, call->tag, error);
}
static void election_extend(struct call *call) {
  call->status = mortise_election_extend(call->object, call->lease_ms, error);
  call->token = mortise_election_token(call->object);
}
static void election_extend_async(struct call *call) {
  call->status =
      mortise_election_extend_async(call->object, queue, call->tag, call->lease_ms, error);
}
static void election_progress(struct call *call) {
  call->status = mortise_election_progress(call->object, error);
  call->token = mortise_election_token(call->object);
}
static void election_set_value(struct call *call) {
  call->status =
      mortise_election_set_value(call->object, call->given->value, call->given->size, error);
}
static void election_set_value_async(struct call *call) {
  call->status = mortise_election_set_value_async(call->object, queue, call->tag,
                                                  call->given->value, call->given->size, error);
}
static void election_cancel(struct call *call) {
  call->status = mortise_election_cancel(call->object, error);
}
static void election_interrupt(struct call *call) {
  call->status = mortise_election_interrupt(call->object, call->is_on, error);
}
static void election_set_task(struct call *call) {
  call->status = mortise_election_set_task(call->object, call->task, error);
}
static void election_name(struct call *call) {
  call->text = mortise_election_name(call->object, NULL);
}
static void election_is_leader(struct call *call) {
  call->value = mortise_election_is_leader(call->object);
}
static void election_valid_ms(struct call *call) {
  call->value = mortise_election_valid_ms(call->object);
}
static void election_deadline_ns(struct call *call) {
  call->value = mortise_election_deadline_ns(call->object);
}
static void election_token(struct call *call) {
  call->value = mortise_election_token(call->object);
}
static void election_free(struct call *call) {
  mortise_election_free(call->object);
  call->status = MORTISE_OK;
}
