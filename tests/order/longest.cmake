# The tests that take seconds, with how many on two cores: `sort -rnk3
# build/release/Testing/Temporary/CTestCostData.txt`. CTest ignores names that are not there.
foreach(test
    packaging.plain=60
    packaging.subproject=60
    packaging.dev_install=60
    docs.rights=50
    conformance.noticed.java=35
    conformance.noticed.c=25
    conformance.noticed.go=25
    conformance.noticed.lua5.4=25
    conformance.noticed.luajit=25
    bindings.go.race=32
    bindings.go.test=25
    bindings.go.cgocheck=24
    conformance.scenarios=23
    java.maven=17
    packaging.plugin=20
    integration_tests.local_server_test.NothingIsLostWhenClientsRaceWithItsEnd=11
    safety_tests.safety.chaos=10
    safety_tests.safety.hazard_24_each_stopped_waiter_costs_the_next_one_grant=11
    java.tests=10
    conformance.conductor=9
    safety_tests.safety.hazard_31_hostile_replies_are_refused=9
    safety_tests.safety.shared_chaos=9
    safety_tests.memory_of_a_hold.that_is_renewed=8
    safety_tests.memory_of_a_multi.that_waits_for_its_members=6
    capi.signal_test=6
    integration_tests.local_server_test.StaysWhileALockIsKept=6
    integration_tests.local_server_test.StaysWhileSomebodyIsConnected=6
    safety_tests.safety.hazard_18_renewal_survives_the_loss_of_each_first_try=6
    safety_tests.safety.hazard_23_denied_publish_does_not_make_a_release_fail=4
    integration_tests.local_server_test.AllComeTogetherAgainAfterItsEnd=4
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
