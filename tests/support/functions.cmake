# The functions by which the CMakeLists.txt of each folder of tests declare their tests.

# mortise_test_files(<variable> <pattern>…): files that match, checked at every build.
macro(mortise_test_files variable)
  file(GLOB ${variable} CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${ARGN})
endmacro()

# Each test is run by this program, which repeats it when the machine has stalled; see watcher/watched.c.
add_executable(watched ${CMAKE_CURRENT_LIST_DIR}/watcher/watched.c)
target_compile_definitions(watched PRIVATE _GNU_SOURCE)
target_link_libraries(watched PRIVATE Threads::Threads)
set(watched $<TARGET_FILE:watched> CACHE INTERNAL "")

# A test without its package never disappears: it names the package and counts as skipped.
# `./dev test` installs all packages, and fails for a skipped test.
function(mortise_missing name package)
  add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/support/needs ${package})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
  message(STATUS "${name} will be skipped: install ${package}")
endfunction()

# mortise_script_test(<name> SECONDS <limit> LABEL <label> [FULL] [NEEDS <need>…] COMMAND …): FULL is
# for `./dev test --full` only; for the needs see support/needs.
function(mortise_script_test name)
  if(NOT name MATCHES "^[a-z]+[.].")
    message(FATAL_ERROR "${name} is not group.name")
  endif()
  cmake_parse_arguments(arg "FULL" "SECONDS;LABEL" "NEEDS;COMMAND" ${ARGN})
  list(PREPEND arg_COMMAND ${watched})
  if(arg_NEEDS)
    list(PREPEND arg_COMMAND ${PROJECT_SOURCE_DIR}/tests/support/needs ${arg_NEEDS} --)
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${arg_SECONDS} LABELS ${arg_LABEL} SKIP_RETURN_CODE 77)
  if(arg_FULL)
    mortise_full_tests(${name})
  endif()
endfunction()

# mortise_full_tests(<name>…): tests that only `./dev test --full` runs.
function(mortise_full_tests)
  set_property(TEST ${ARGN} APPEND PROPERTY LABELS full)
endfunction()

# mortise_gate(<name> <script> <argument>… [SECONDS <limit>] [FULL] [NEEDS <need>…]): a check of what
# is shipped.
function(mortise_gate name script)
  cmake_parse_arguments(PARSE_ARGV 2 arg "FULL" "SECONDS" "NEEDS")
  if(NOT arg_SECONDS)
    set(arg_SECONDS 600)
  endif()
  set(full)
  if(arg_FULL)
    set(full FULL)
  endif()
  mortise_script_test(${name} SECONDS ${arg_SECONDS} LABEL gates ${full} NEEDS ${arg_NEEDS}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${arg_UNPARSED_ARGUMENTS})
endfunction()

# mortise_gtest(<name> SECONDS <limit> SOURCES … LIBRARIES … [SUITES …]): one CTest test for each
# case of GoogleTest, so that they run in parallel. A SUITE is one test: its cases share a cluster.
# The suites of ALONE, and those instantiated as `alone`, run only on request. Those instantiated as
# `full` are for `./dev test --full`.
function(mortise_gtest name)
  cmake_parse_arguments(arg "" "SECONDS" "SOURCES;LIBRARIES;SUITES;ALONE" ${ARGN})
  if(NOT GTest_FOUND)
    mortise_missing(${name} libgtest-dev)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} mortise_flags GTest::gtest_main)
  mortise_quick_to_compile(${name})
  # How gtest_discover_tests() is given a program that runs the test.
  set_target_properties(${name} PROPERTIES CROSSCOMPILING_EMULATOR ${CMAKE_BINARY_DIR}/watched)
  add_dependencies(${name} watched)
  if(holders_support IN_LIST arg_LIBRARIES)
    # Their servers load it, so no compiler or linker asks for it.
    add_dependencies(${name} server_clock)
  endif()
  set(not_discovered -alone/*)
  foreach(suite IN LISTS arg_ALONE)
    string(APPEND not_discovered ":${suite}.*")
  endforeach()
  foreach(suite IN LISTS arg_SUITES)
    add_test(NAME ${name}.${suite} COMMAND ${watched} $<TARGET_FILE:${name}> --gtest_filter=${suite}.*:*/${suite}.*-alone/*)
    set_tests_properties(${name}.${suite} PROPERTIES TIMEOUT ${arg_SECONDS} LABELS ${name})
    string(APPEND not_discovered ":${suite}.*:*/${suite}.*")
  endforeach()
  set(discovery TEST_PREFIX ${name}. NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
  gtest_discover_tests(${name} TEST_FILTER ${not_discovered}:full/* ${discovery}
                       PROPERTIES TIMEOUT ${arg_SECONDS} LABELS ${name})
  gtest_discover_tests(${name} TEST_FILTER full/* ${discovery}
                       PROPERTIES TIMEOUT ${arg_SECONDS} LABELS full)
endfunction()

# The library is compiled as it is shipped. Tests are compiled without optimization, as a few large
# files instead of many. Each file has a namespace of its own, so its names do not collide. Debug
# information is lines only, because all of it would take a third of the time.
function(mortise_quick_to_compile target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  target_compile_options(${target} PRIVATE -O0 -g1)
endfunction()

# What tests share computes more: simulations, proxies and checkers of histories.
function(mortise_test_library target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
  target_compile_options(${target} PRIVATE -O1 -g1)
endfunction()
