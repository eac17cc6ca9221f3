# The tests that take seconds, with how many on two cores: `sort -rnk3
# build/release/Testing/Temporary/CTestCostData.txt`. CTest ignores names that are not there.
foreach(test
    conformance.scenarios=180
    packaging.plain=60
    packaging.subproject=60
    packaging.dev_install=60
    docs.rights=50
    docs.managed=15
    conformance.noticed.java=60
    conformance.noticed.c=40
    conformance.noticed.cxx=30
    conformance.noticed.go=40
    conformance.noticed.lua5.4=40
    conformance.noticed.luajit=40
    bindings.go.race=32
    bindings.go.test=25
    bindings.go.cgocheck=24
    packaging.maven=60
    cxx.clang++=50
    cxx.g++=45
    cxx.alone=14
    docs.README=19
    docs.cxx=18
    java.maven=17
    packaging.plugin=20
    integration_tests.local_server_test.nothing_is_lost_when_clients_race_with_its_end=11
    safety_tests.safety.chaos=10
    safety_tests.memory_of_a_quorum.that_another_has=37
    safety_tests.memory_of_a_quorum.that_is_prolonged_and_topped_up=11
    safety_tests.memory_of_a_quorum.that_is_waited_for=11
    safety_tests.memory_of_a_quorum.that_is_won_and_released=8
    safety_tests.quorum.a_server_that_has_forgotten_votes_is_in_quarantine=12
    safety_tests.quorum_chaos.inside_of_what_is_promised_nobody_overlaps_and_tokens_rise=16
    safety_tests.quorum_chaos.outside_of_it_is_one_clock_that_steps_at_will_and_no_token_is_given_twice=9
    safety_tests.quorum_clock.nor_are_they_by_a_reader_whom_a_writer_waits_for=11
    safety_tests.quorum_clock.nor_are_they_by_a_writer_whom_a_reader_waits_for=11
    safety_tests.quorum_clock.one_or_two_that_step_ahead_are_not_felt=12
    safety_tests.quorum_clock.one_or_two_that_step_back_are_not_felt=16
    safety_tests.quorum_chaos.outside_of_it_leases_may_overlap_and_no_token_is_given_twice=7
    safety_tests.sentinel.a_shard_and_a_vote_of_a_quorum_may_have_sentinels=4
    safety_tests.sentinel.hazard_10_all_is_kept_when_the_master_hangs=5
    safety_tests.sentinel.hazard_10_all_is_kept_when_the_master_is_killed=5
    safety_tests.sentinel.hazard_10_all_is_kept_when_the_master_is_replaced_by_command=4
    safety_tests.sentinel.hazard_10_one_that_lives_and_is_asked_is_enough=4
    safety_tests.sentinel.hazard_28_who_has_missed_the_news_looks_when_it_is_refused=14
    safety_tests.sentinel_chaos.whatever_a_failover_loses_no_token_is_given_twice_and_nothing_is_left=18
    safety_tests.sentinel_login.each_is_logged_in_to_with_its_own=4
    safety_tests.quorum_kinds.tls_and_a_name_that_fails_over_are_as_they_are_alone=5
    safety_tests.safety.hazard_10_a_grant_that_is_heard_at_a_replica_only_is_none=10
    safety_tests.safety.hazard_10_permits_that_are_granted_where_a_replica_is_heard_only_are_none=10
    safety_tests.safety.hazard_24_each_stopped_waiter_costs_the_next_one_grant=11
    java.tests=10
    conformance.conductor=10
    safety_tests.failover.a_slow_master_is_not_left_while_the_name_lists_it=10
    safety_tests.failover.hazard_10_a_silent_master_is_left_when_the_name_leads_elsewhere=8
    safety_tests.safety.hazard_31_hostile_replies_are_refused=9
    safety_tests.secret_words.what_a_server_repeats_of_a_login_is_not_told=3
    safety_tests.safety.shared_chaos=9
    capi.names_test=9
    safety_tests.memory_of_a_hold.that_is_renewed=8
    safety_tests.memory_of_a_multi.that_waits_for_its_members=6
    capi.signal_test=6
    integration_tests.local_server_test.stays_while_a_lock_is_kept=6
    integration_tests.local_server_test.stays_while_somebody_is_connected=6
    safety_tests.safety.hazard_18_renewal_survives_the_loss_of_each_first_try=6
    safety_tests.safety.hazard_23_denied_publish_does_not_make_a_release_fail=4
    integration_tests.local_server_test.all_come_together_again_after_its_end=4
    safety_tests.safety.hazard_18_renewal_survives_refusals_of_each_first_try=4
    capi.watch_test=4
    safety_tests.safety.hazard_27_flushed_scripts_do_not_show=3
    safety_tests.safety.hazard_24_killed_subscribers_still_get_their_turn=3
    docs.recipes.leader_election=10
    docs.recipes.fence_in_sql=9
    docs.recipes.one_job=9
    docs.recipes.rate_limit=8
    docs.recipes.testing=6
    docs.recipes.graceful_shutdown=4
    packaging.go-static=3)
  if(test MATCHES "^(.*)=(.*)$")
    set_tests_properties("${CMAKE_MATCH_1}" PROPERTIES COST ${CMAKE_MATCH_2})
  endif()
endforeach()

# Those that compute all the time count as several of those that wait, of which `./dev test` has four for
# each core.
foreach(test
    conformance.scenarios conformance.noticed.c conformance.noticed.cxx conformance.noticed.go
    conformance.noticed.java conformance.noticed.lua5.4 conformance.noticed.luajit
    packaging.plain packaging.subproject packaging.dev_install packaging.maven
    bindings.go.test bindings.go.race bindings.go.cgocheck cxx.g++ cxx.clang++)
  set_tests_properties(${test} PROPERTIES PROCESSORS 3)
endforeach()
