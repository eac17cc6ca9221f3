# The long tests begin first, also where CTest has not measured them yet. Each has how many seconds it
# takes on two processors. CTest ignores unknown names.

# These compute most of the time: builds, JVMs, simulations. They begin before all others and take
# turns, in one more lane than there are processors, because none computes all the time. The tests
# that mostly wait run next to them. PROCESSORS would not do: CTest starts a test that needs several
# only when as many are free at once, which is at the end.
include(ProcessorCount)
processorcount(lanes)
math(EXPR lanes "${lanes} + 1")
set(number 0)
foreach(test
    packaging.install=200
    java.tests=100
    simulation.lock=90
    bindings.go.test=80
    simulation.cluster=75
    simulation.redlock=70
    cli.manual=35
    conformance.runner=29
    java.virtual_21=27
    packaging.late_packages=24
    docs.tutorial=24
    java.virtual_25=22
    simulation_tests.simulation.lives_through_a_run_the_same_way_each_time=17
    capi.watch_test=17
    java.javadoc=9
    style.members=5
    packaging.go=5
    packaging.java=4)
  if(test MATCHES "^(.*)=(.*)$")
    math(EXPR cost "1000 + ${CMAKE_MATCH_2}")
    math(EXPR lane "${number} % ${lanes}")
    math(EXPR number "${number} + 1")
    set_tests_properties("${CMAKE_MATCH_1}" PROPERTIES
      COST ${cost} RESOURCE_LOCK lane_${lane})
  endif()
endforeach()

# These mostly wait. `./dev test` prints those that took longest.
foreach(test
    cli.missing=110
    docs.tour=90
    conformance.deployments=105
    conformance.languages=80
    cli.exec=50
    capi.names_test=45
    sentinel_tests.sentinel_partitions=43
    redlock_tests.quorum_faults.two_who_see_different_servers_exclude_each_other=41
    cluster_tests.clusters=40
    cli.loss=39
    safety_tests.memory_of_a_quorum.that_another_has=37
    cluster_tests.cluster_chaos=34
    cluster_tests.clusters_order=34
    cluster_tests.cluster_partitions=33
    cli.obstacles=32
    cluster_tests.clusters_reshard=24
    redlock_tests.quorum.a_server_whose_second_name_is_reached_late_does_not_count_twice=22
    sentinel_tests.acknowledged_sentinel_chaos.what_replicas_have_lets_no_two_hold_when_masters_die=22
    safety_tests.memory_of_a_quorum.that_is_prolonged_and_topped_up=22
    acks_tests.acknowledged_clusters=21
    acks_tests.sentinel_acknowledgement.hazard_7_what_a_failover_leaves_is_not_relied_on_before_it_is_had=21
    cli.doctor=19
    capi.credentials_test=17
    cluster_tests.acknowledged_cluster_chaos=17
    redlock_tests.quorum_chaos.inside_of_what_is_promised_nobody_overlaps_and_tokens_rise=16
    capi.lock_test=16
    sentinel_tests.sentinel_chaos.whatever_a_failover_loses_no_token_is_given_twice_and_nothing_is_left=15
    redlock_tests.quorum.a_server_that_has_forgotten_votes_is_in_quarantine=14
    sentinel_tests.sentinel.hazard_28_a_client_that_missed_the_message_looks_when_it_is_refused=14
    redlock_tests.two/quorum_clock_steps.of_one_or_two_do_not_harm_a_mutex/back=13
    safety_tests.memory_of_a_quorum.that_is_waited_for=13
    cli.terminal=13
    redlock_tests.two/quorum_clock_steps.of_one_or_two_do_not_harm_a_writer_that_a_reader_waits_for/back=13
    cli.look=13
    redlock_tests.two/quorum_clock_steps.of_one_or_two_do_not_harm_a_reader_that_a_writer_waits_for/far_ahead=12
    redlock_tests.two/quorum_clock_steps.of_one_or_two_do_not_harm_a_reader_that_a_writer_waits_for/back=12
    capi.error_test=12
    redlock_tests.two/quorum_clock_steps.of_one_or_two_do_not_harm_a_mutex/far_ahead=12
    safety_tests.safety.hazard_31_hostile_replies_are_refused=11
    safety_tests.safety.chaos=11
    local_tests.local_server_test.nothing_is_lost_when_clients_race_with_its_end=11
    redlock_tests.two/quorum_clock_steps.of_one_or_two_do_not_harm_a_writer_that_a_reader_waits_for/far_ahead=11
    safety_tests.safety.hazard_24_each_stopped_waiter_costs_the_next_one_grant=11
    safety_tests.safety.hazard_10_permits_that_are_granted_where_a_replica_is_heard_only_are_none=10
    safety_tests.safety.hazard_10_a_grant_that_is_heard_at_a_replica_only_is_none=10
    acks_tests.sentinel_acknowledgement.hazard_7_what_was_granted_outlives_its_master=10
    acks_tests.sentinel_acknowledgement.hazard_8_a_replica_that_died_does_not_stand_for_one_that_lags=9
    safety_tests.ways/memory_of_a_connection.when_it_comes_back/sentinel=9
    safety_tests.ways/memory_of_a_connection.when_it_comes_back/host_name=9
    safety_tests.safety.shared_chaos=9
    evidence.slice=9
    cli.bad_input=8
    safety_tests.memory_of_a_quorum.that_is_won_and_released=8
    interop_tests.formats/rw_interop.our_renewal_keeps_it_out/hash=8
    acks_tests.acknowledgement.hazard_10_a_hold_that_replicas_do_not_hear_of_ends_with_its_lease=8
    interop_tests.formats/rw_interop.our_renewal_keeps_it_out/two_key=8
    redlock_tests.quorum_chaos.outside_of_it_is_one_clock_that_steps_at_will_and_no_token_is_given_twice=8
    redlock_tests.quorum_faults.a_server_that_restarts_with_old_data_is_in_quarantine=8
    safety_tests.memory_of_a_hold.that_is_renewed=8
    lua.lua5.4.limits_test=8
    capi.dlopen_tls_exit_test=7
    acks_tests.acknowledged_cluster.hazard_8_a_replica_that_died_does_not_stand_for_one_that_lags=7
    safety_tests.ways/memory_of_a_wait.that_ends_with_the_lock/hash=7
    safety_tests.safety/shared_heads.whoever_lives_is_passed_by_nobody/semaphore=7
    safety_tests.failover.a_slow_master_is_not_left_while_the_name_lists_it=7
    acks_tests.sentinel_acknowledgement.hazard_8_a_replica_that_returns_counts_before_it_is_synchronized=7
    cxx.language20=7
    cxx.language23=7
    safety_tests.safety/shared_heads.whoever_lives_is_passed_by_nobody/rw=7
    safety_tests.safety.hazard_04_a_server_that_steps_back_keeps_a_dead_holders_lease_until_it_is_right=7
    interop.redlock_py=7
    cxx.language17=7
    servers.watched=7
    safety_tests.ways/memory_of_a_wait.that_ends_with_the_lock/hash_two_sockets_alone=7
    redlock_tests.quorum_chaos.outside_of_it_leases_may_overlap_and_no_token_is_given_twice=7
    sentinel_tests.sentinel_names.tls_is_spoken_to_each_as_the_url_says=7
    safety_tests.safety/shared_heads.whoever_is_stopped_until_its_timeout_is_over_is_passed_by_tries/rw=6
    cli.complaints=6
    safety_tests.safety/shared_heads.whoever_is_stopped_until_its_timeout_is_over_is_passed_by_tries/semaphore=6
    sentinel_tests.sentinel_names.an_address_that_leads_nowhere_is_reported_with_its_remedy=6
    local_tests.local_server_test.stays_while_somebody_is_connected=6
    capi.connect_test=6
    safety_tests.safety.hazard_18_renewal_survives_the_loss_of_each_first_try=6
    local_tests.local_server_test.all_come_together_again_after_its_end=6
    interop_tests.formats/rw_interop.a_reader_of_ours_never_frees_what_a_later_reader_has_written/two_key=6
    safety_tests.safety.hazard_26_every_call_ends_by_its_deadline_when_the_server_hangs=6
    sentinel_tests.sentinels.tell_of_the_replicas_of_the_master_only=6
    capi.reason_test=6
    sentinel_tests.sentinel.hazard_10_all_is_kept_when_the_master_is_killed=6
    sentinel_tests.sentinel.hazard_10_all_is_kept_when_the_master_hangs=6
    safety_tests.ways/memory_of_a_new_connection.while_it_is_made/sentinel=6
    safety_tests.safety.hazard_18_renewal_survives_refusals_of_each_first_try=6
    redlock_tests.quorum_kinds.tls_and_a_name_that_fails_over_are_as_they_are_alone=6
    safety_tests.ways/memory_of_a_wait.that_ends_with_the_lock/hash_alone=6
    safety_tests.safety/shared_heads.hazard_24_each_stopped_waiter_costs_the_next_one_grant/semaphore=6
    safety_tests.safety/shared_heads.hazard_24_each_stopped_waiter_costs_the_next_one_grant/rw=6
    safety_tests.safety/grace_period.whoever_died_with_the_server_costs_the_others_a_moment/rw=6
    local_tests.local_server_test.stays_while_a_lock_is_kept=5
    lua.lua5.4.lock_test=5
    safety_tests.memory_of_a_multi.that_waits_for_its_members=5
    cli.signals=5
    safety_tests.safety/grace_period.whoever_died_with_the_server_costs_the_others_a_moment/semaphore=5
    single_tests.health.hazard_10_sees_replicas=5
    safety_tests.leftovers_of_a_quorum.every_key_ends=5
    lua.luajit.lock_test=5
    safety_tests.safety/grace_period.whoever_died_with_the_server_costs_the_others_a_moment/mutex=5
    bindings.generated=5
    safety_tests.silent_connection.hazard_26_a_hold_survives=5
    safety_tests.ways/memory_of_a_new_connection.while_it_is_made/cluster=5
    docs.links=5
    acks_tests.sentinel_acknowledgement.hazard_8_a_replica_that_is_gone_holds_all_up_until_that_is_known=5
    simulation_tests.redis_comparison.random_commands_and_scripts_are_answered_alike=5
    safety_tests.silent_connection.hazard_26_a_call_succeeds_over_a_new_connection=5)
  if(test MATCHES "^(.*)=(.*)$")
    set_tests_properties("${CMAKE_MATCH_1}" PROPERTIES COST ${CMAKE_MATCH_2})
  endif()
endforeach()
