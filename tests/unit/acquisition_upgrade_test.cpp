// Upgrades and downgrades of the votes of a reader.
#include "unit/acquisition_fixture.hpp"

namespace mortise::quorum::acquisition_test {
namespace {

// A reader with all votes.
std::vector<row> reader_with(std::vector<row> rows) {
  std::vector<row> all = {{request(step::try_take), "try_take to 0 1 2", collecting},
                          {reply(0, answer::granted), "", collecting},
                          {reply(1, answer::granted), "granted", granted},
                          {reply(2, answer::granted), "", granted}};
  all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

TEST(acquisitions, a_majority_of_raised_votes_is_an_upgrade) {
  run(3, reader_with(
             {{request(step::raise), "raise to 0 1 2", granted},
              {reply(0, answer::granted), "", granted},
              {reply(2, answer::granted), "granted", granted},
              {reply(1, answer::not_free, 7), "", granted},
              {request(step::release, lock::exclusive_permits), "release to 0 1 2", returning}}));
}

// Hazard 17: the votes of the reader stay.
TEST(acquisitions, an_upgrade_without_a_majority_is_undone_where_it_may_have_been_executed) {
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {reply(0, answer::granted), "", granted},
                      {reply(1, answer::not_free, 7), "", granted},
                      {reply(2, answer::not_free, 7), "not_free, renew to 0", granted},
                      {pending_releases, "", granted},
                      {request(step::renew), "renew to 0 1 2", granted},
                      {reply(0, answer::renewed), "", granted},
                      {reply(1, answer::renewed), "renewed", granted}}));
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {reply(0, answer::not_free, 7), "", granted},
                      {timeout, "not_free, renew to 1 2", granted},
                      {reply(1, answer::granted), "", granted},
                      {reply(2, answer::granted), "", granted}}));
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {reply(0, answer::granted), "", granted},
                      {reply(1, answer::broken), "", granted},
                      {reply(2, answer::unsent), "unsent, renew to 0 1", granted}}));
  run(3, reader_with({{loss_of("12"), "", granted},
                      {request(step::raise), "unreachable, renew to 0", granted}}));
  // Too few servers can be reached for a higher proposal.
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {reply(0, answer::not_free, high_token, free_ms), "", granted},
                      {loss_of("12"), "", granted},
                      {reply(1, answer::not_free, high_token, free_ms), "not_free, renew to 0 2",
                       granted}}));
}

TEST(acquisitions, a_higher_proposal_follows_an_upgrade_that_was_outrun) {
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {reply(0, answer::granted), "", granted},
                      {reply(1, answer::not_free, high_token, free_ms), "", granted},
                      {reply(2, answer::not_free, high_token, free_ms), "raise to 0 1 2", granted},
                      {reply(0, answer::granted), "", granted},
                      {reply(1, answer::granted), "granted", granted}}));
}

// The renewal has undone it at each server, in order. A further proposal would not be undone.
TEST(acquisitions, a_renewal_of_the_reader_ends_an_upgrade) {
  run(3, reader_with(
             {{request(step::raise), "raise to 0 1 2", granted},
              {request(step::renew), "renew to 0 1 2", granted},
              {late_reply(2, 0, answer::not_free, high_token, free_ms), "", granted},
              {late_reply(2, 1, answer::not_free, high_token, free_ms), "not_free", granted}}));
}

// Hazard 16: servers that have forgotten the script get it, but not across a change of the mode.
TEST(acquisitions, a_renewal_is_not_repeated_after_a_change_of_the_mode) {
  const auto whole = lock::exclusive_permits;
  run(3, reader_with({{request(step::renew), "renew to 0 1 2", granted},
                      {repetition(2), "sent again", granted},
                      {request(step::raise), "raise to 0 1 2", granted},
                      {repetition(2), "", granted},
                      {repetition(3), "sent again", granted},
                      {reply(0, answer::granted), "", granted},
                      {reply(1, answer::granted), "granted", granted},
                      {request(step::renew, whole), "renew to 0 1 2", granted},
                      {repetition(4), "sent again", granted},
                      {request(step::renew), "renew to 0 1 2", granted},
                      {repetition(3), "", granted},
                      {repetition(4), "", granted},
                      {repetition(5), "sent again", granted}}));
}

// Hazard 16: the caller has given up the upgrade. No vote is requested after the release.
TEST(acquisitions, a_release_during_an_upgrade_ends_it) {
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {request(step::cancel), "cancel to 0 1 2", returning},
                      {late_reply(2, 0, answer::not_owner), "", returning},
                      {late_reply(2, 1, answer::granted), "", returning},
                      {late_reply(2, 2, answer::granted), "granted", returning}}));
}

// The caller has given up the first one. Otherwise one could undo what the other has granted
// (hazard 17).
TEST(acquisitions, the_last_of_several_upgrades_decides) {
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {request(step::raise), "raise to 0 1 2", granted},
                      {late_reply(2, 0, answer::granted), "", granted},
                      {late_reply(2, 1, answer::granted), "unsent", granted},
                      {reply(0, answer::granted), "", granted},
                      {reply(1, answer::granted), "granted", granted}}));
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {request(step::raise), "raise to 0 1 2", granted},
                      {late_reply(2, 0, answer::not_free, 7), "", granted},
                      {late_reply(2, 1, answer::not_free, 7), "unsent", granted},
                      {reply(0, answer::granted), "", granted},
                      {reply(1, answer::granted), "granted", granted}}));
}

// Hazard 16: the servers ignore late requests by the lower proposal.
TEST(acquisitions, a_change_of_the_mode_has_a_higher_proposal) {
  run(3, reader_with({{request(step::renew), "renew to 0 1 2", granted},
                      {is_above(2, 1), "no", granted},
                      {request(step::raise), "raise to 0 1 2", granted},
                      {is_above(3, 2), "yes", granted},
                      {request(step::renew), "renew to 0 1 2", granted},
                      {is_above(4, 3), "yes", granted}}));
}

// Hazard 17.
TEST(acquisitions, an_upgrade_of_a_hold_that_most_servers_have_forgotten_is_a_loss) {
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {reply(0, answer::not_owner), "", granted},
                      {reply(1, answer::not_owner), "not_owner, renew to 2", granted},
                      {reply(2, answer::not_owner), "", granted}}));
  // One of them is asked again.
  run(3,
      reader_with({{request(step::raise), "raise to 0 1 2", granted},
                   {reply(0, answer::not_owner), "", granted},
                   {reply(1, answer::granted), "", granted},
                   {reply(2, answer::granted), "granted, reacquire as a writer to 0", granted}}));
}

TEST(acquisitions, a_late_reply_of_before_an_upgrade_gives_no_vote_for_a_writer) {
  run(3,
      reader_with({{request(step::renew), "renew to 0 1 2", granted},
                   {reply(0, answer::renewed), "", granted},
                   {reply(1, answer::renewed), "renewed", granted},
                   {request(step::raise), "raise to 0 1 2", granted},
                   {late_reply(2, 2, answer::not_owner), "", granted},
                   {reply(2, answer::not_owner), "", granted},
                   {reply(0, answer::granted), "", granted},
                   {reply(1, answer::granted), "granted, reacquire as a writer to 2", granted}}));
}

TEST(acquisitions, a_vote_that_was_not_raised_is_kept_and_asked_for_again) {
  const auto whole = lock::exclusive_permits;
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {reply(0, answer::granted), "", granted},
                      {reply(1, answer::granted), "granted", granted},
                      {reply(2, answer::unsent), "", granted},
                      {request(step::renew, whole), "renew to 0 1 2", granted},
                      {weaker_vote(2), "", granted},
                      {reply(0, answer::renewed), "", granted},
                      {reply(1, answer::renewed), "renewed, reacquire as a writer to 2", granted},
                      {background_reply(step::reacquire, 2, answer::broken), "", granted},
                      {request(step::release, whole), "release to 0 1 2", returning},
                      {reply(0, answer::released), "", returning},
                      {reply(1, answer::released), "released", returning},
                      {reply(2, answer::broken), "", returning},
                      {pending_releases, " 2", returning}}));
}

}  // namespace
}  // namespace mortise::quorum::acquisition_test
