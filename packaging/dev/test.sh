# ./dev test: the first tier, and the parts of --full. Sourced by ./dev.
# shellcheck shell=bash

passed=0
failed=0
skipped=0   # what this machine cannot run
repeated=0  # because the machine has stalled
failures=()
last_words=''  # of the tests that failed

# part <name> <command>…: one thing that passes or fails.
part() {
  local name=$1
  shift
  echo "== $name"
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    failures+=("$name")
    echo "== $name: FAILED"
  fi
}

finish() {
  local name
  if [[ -n $last_words ]]; then echo "$last_words"; fi
  for name in "${failures[@]}"; do echo "failed: $name"; done
  echo "$skipped skipped, $repeated repeated"
  echo "$passed passed, $failed failed"
  ((failed == 0))
}

# What CTest knows and the arguments choose, counted one by one. A test that did not run has failed,
# unless this machine cannot run it: then it says `skipped: REASON`. Most tests wait most of the time, so
# four run at once for each processor. Those that compute take turns: tests/support/schedule.cmake. A
# second run on this preset waits for the first.
# run_ctest <preset> [argument…]
run_ctest() {
  local preset=$1 report=build/$1/report.xml repeats=$PWD/build/$1/repeats run=() counts
  shift
  # The address layout of some kernels is more random than ThreadSanitizer of GCC 12 can stand.
  if [[ $preset == tsan ]] && setarch -R true 2>/dev/null; then run=(setarch -R); fi
  echo "== ctest"
  exec {running}>"build/.$preset.test.lock"
  flock --nonblock "$running" || {
    echo "waiting for another ./dev test of $preset"
    flock "$running"
  }
  rm -f "$report" "$repeats"
  if ((is_full)); then export MORTISE_TEST_FULL=1; fi
  MORTISE_TEST_REPEATS=$repeats "${run[@]}" ctest --test-dir "build/$preset" --output-on-failure \
    "$@" --parallel "$((4 * $(nproc)))" --output-junit "$PWD/$report" \
    --test-output-size-passed 65536 {running}>&- || true
  if [[ ! -s $report ]]; then
    failed=$((failed + 1))
    failures+=("ctest did not finish")
    return
  fi
  # Its last line is for us; what is before it stands at the end of a long run.
  last_words+=${last_words:+$'\n'}$(tests/support/last_words "$report" "$repeats" build/.counts)
  read -ra counts <build/.counts
  exec {running}>&-
  passed=$((passed + counts[0]))
  failed=$((failed + counts[1]))
  skipped=$((skipped + counts[2]))
  repeated=$((repeated + counts[3]))
  if ((counts[0] + counts[1] == 0)); then
    failed=$((failed + 1))
    failures+=("ctest found no test")
  fi
}

check_format() {
  sources | xargs -r clang-format --dry-run -Werror
}

# Only the library, and only the files that this branch has changed; all of them in CI.
check_tidy() {
  tests/checks/style/tidy build/release build/tidy '--checks=-clang-analyzer-*'
}
check_tidy_of_changes() {
  local base changed
  base=$(git merge-base HEAD '@{upstream}' 2>/dev/null || git rev-parse HEAD)
  mapfile -t changed < <(git diff --name-only --diff-filter=AM "$base" -- src capi cli)
  if ((${#changed[@]} > 0)); then
    MORTISE_TIDY_ONLY=$(printf '%s\n' "${changed[@]}") check_tidy
  fi
}

# Each file of the library by itself: it includes what it needs.
check_each_file() {
  cmake --preset release -B build/each -DCMAKE_UNITY_BUILD=OFF >build/.each.log &&
    cmake --build build/each --target mortise_core mortise_capi mortise_command
}

# The analyzer doubles the time, and has each file by itself. Clang does not know all flags of GCC.
check_tidy_and_analyzer() {
  mkdir -p build/tidy
  sed 's/ -fno-ipa-icf//' build/each/compile_commands.json >build/tidy/compile_commands.json
  find src capi cli -name '*.cpp' -print0 |
    xargs -0 -r -n 1 -P "$(nproc)" clang-tidy --quiet -p build/tidy 2>build/tidy/log
}

test_fuzz() {
  local seconds=$1 source name
  need "${packages_fuzz[@]}"
  part "build of the fuzzers" build fuzz
  for source in tests/fuzz/*_fuzzer.cpp; do
    name=$(basename "$source" .cpp)
    part "$name, $seconds s" tests/fuzz/explore "$name" "$seconds"
  done
}

# test_on_server <name>: what starts servers, on the one that was unpacked there; `local:` finds it, too.
test_on_server() {
  local folder=$PWD/build/servers/$1 except='' without='' regex
  regex='^((single|tls|acks|redlock|sentinel|cluster|local|shard|safety|interop|cli)_tests|capi|interop'
  regex+='|conformance|bindings|java\.(tests|virtual)|lua|python|docs|servers|simulation_tests\.redis_comparison)'
  # Those of TLS itself need a server that is built with it, and a cluster needs sharded pub/sub.
  if [[ $1 != installed ]]; then except='[._]tls|'; fi
  if [[ $1 == redis-6.* ]]; then
    except+='^cluster_tests|acknowledged_cluster|^docs\.cluster$|/cluster( |$)|'
    without=cluster
  fi
  echo "== $1"
  PATH=$folder/bin:$PATH MORTISE_TEST_SERVER=$(echo "$folder"/bin/*-server) \
    MORTISE_TEST_WITHOUT=$without run_ctest release \
    --tests-regex "$regex" \
    --exclude-regex "$except"'^(docs\.(evidence_table|links|options_table|servers_table)|lua\.(luacheck|rockspec)|bindings\.generated)'
  if [[ -s build/release/report.xml ]]; then cp build/release/report.xml "$folder/"; fi
}

test_servers() {
  local name requirement
  rm -f build/servers/*/report.xml
  mkdir -p build/servers/installed/bin
  ln -sf "$(type -P redis-server)" build/servers/installed/bin/redis-server
  ln -sf bin/redis-server build/servers/installed/program
  test_on_server installed
  while read -r name requirement; do
    if [[ -z $name || $name == \#* ]]; then continue; fi
    part "the program of $name" need_server "$name" "$requirement"
    if [[ -x build/servers/$name/program ]]; then test_on_server "$name"; fi
  done <tests/support/servers.txt
  part "the table of docs/servers.md is written" tests/checks/docs/servers_table write
  part "the table of docs/servers.md is complete" tests/checks/docs/servers_table check
}

# The simulations with new seeds, what is labelled so, and one server that can move slots as a whole.
test_deployments() {
  local name requirement
  read -r name requirement < <(grep '^valkey-9' tests/support/servers.txt)
  mkdir -p build/servers
  part "the program of $name" need_server "$name" "$requirement"
  for name in redlock cluster; do
    part "simulation of $name" "build/release/${name}_simulation" --seeds 5000 \
      --first-seed "$(date +%s)"
  done
  run_ctest release --build-config long --label-regex '^deployments$'
}

test_redisson() {
  need "${packages_redisson[@]}"
  part "Redisson's build" mvn -B -q -f tests/interop/redisson/pom.xml \
    -Dtarget.folder="$PWD/build/redisson" package
  part "Redisson" tests/support/with_server /usr/bin/python3 -B tests/interop/redisson_test.py \
    build/release/libmortise.so "build/redisson/classes:build/redisson/dependency/*"
}

# All that is published, made twice, and used by programs that have nothing else of Mortise.
test_packages() {
  local target name published=build/published made_of=build/published_of unpacked=build/unpacked
  local packages=build/published_of/debian debian=build/debian
  unpack build/nginx "${packages_nginx[@]}"
  need "${packages_release[@]}" "${packages_server[@]}" "${packages_test[@]}" "${packages_go[@]}" \
    "${packages_languages[@]}" "${packages_debian_test[@]}" "${packages_recipes[@]}" "${packages_wheels[@]}"
  rm -rf "$published" "$made_of"
  part "a release" packaging/release "$published" "$made_of"
  # Written last. Without a release there is nothing to use.
  if [[ ! -e $published/SHA256SUMS ]]; then return; fi
  part "a release is the same elsewhere" tests/packaging/release "$published"
  part "its archives" tests/packaging/unpack "$published" "$unpacked"
  part "one file" tests/packaging/amalgamation
  part "one file, with other compilers and flags" tests/packaging/flags
  for target in linux-x86_64 linux-aarch64 linux-musl-x86_64 linux-musl-aarch64; do
    part "$target is used" tests/packaging/cross "$target" "$unpacked/$target"
  done
  part "tests on aarch64" tests/packaging/aarch64 build/aarch64
  part "Go's module is used" tests/packaging/go_module "$unpacked"
  part "the rock is used" tests/packaging/rock "$published"/*.src.rock
  part "the wheels are used" tests/packaging/wheels "$published" build/pythons
  part "the jar of all systems is used" tests/packaging/jar "$published"/mortise-*[0-9].jar
  part "the oldest Spring Integration" tests/packaging/older "$unpacked/natives" spring spring-integration 7.0.0
  part "the oldest Micrometer" tests/packaging/older "$unpacked/natives" micrometer micrometer 1.13.0
  part "the oldest OpenTelemetry" tests/packaging/older "$unpacked/natives" opentelemetry opentelemetry 1.58.0
  part "the oldest Spring Boot" tests/packaging/older "$unpacked/natives" boot spring-boot 4.0.7
  part "Conan's packages are used" tests/packaging/conan
  part "the RPMs" tests/packaging/rpm
  part "other recipes" tests/packaging/recipes
  # Compilers store messages in pieces of 16 bytes, which now and then look like misspelt words.
  part "lintian" lintian --allow-root --pedantic --display-info \
    --suppress-tags spelling-error-in-binary --fail-on error,warning,info,pedantic "$packages"/*.changes
  part "a Debian to install them in" tests/packaging/debian/chroot make "$debian"
  part "they are installed and purged" tests/packaging/debian/chroot install "$debian" "$packages"
  for name in $(tests/packaging/debian/chroot names); do
    part "autopkgtest $name" tests/packaging/debian/chroot test "$debian" "$packages" "$name"
  done
  tests/packaging/debian/chroot remove "$debian"
}

# What takes minutes to hours, each by the option of its name.
parts_of_full=(redisson deployments servers mutants packages site)
test_mutants() { part "mutants" tests/checks/mutants/mutants run --workers "$(nproc)"; }

test_site() {
  need "${packages_site[@]}"
  part "diagrams agree with their text" packaging/site/draw --check
  part "the site is built" packaging/site/build build/docs
  part "axe-core" packaging/pip tests/checks/docs/axe.txt build/axe
  part "the site" tests/checks/docs/site.py build/docs build/axe/axe_playwright_python/axe.min.js
}

# Formatting, and what the linters see.
test_style() {
  part "formatting" check_format
  if ((is_full)); then
    part "each file by itself" check_each_file
    part "clang-tidy and analyzer" check_tidy_and_analyzer
  elif [[ -n ${CI:-} ]]; then
    part "clang-tidy" check_tidy
  else
    part "clang-tidy of changed files" check_tidy_of_changes
  fi
}

# All that is in no other part.
test_full() {
  need "${packages_reference[@]}"
  run_ctest release --build-config long --label-exclude '^deployments$'
  part "simulation" build/release/lock_simulation --seconds 900 --first-seed "$(date +%s)"
  need "${packages_model[@]}"
  part "model" tests/checks/model/check
  test_fuzz 600
  for name in "${parts_of_full[@]}"; do "test_$name"; done
}

command_test() {
  local preset=release is_full=0 only='' name chosen=()
  while (($# > 0)); do
    case $1 in
      release | asan-ubsan | tsan) preset=$1 ;;
      --full) is_full=1 ;;
      --only)
        only=${2:-}
        if [[ -z $only ]]; then misuse "test: --only: give a regular expression of tests' names"; fi
        shift
        ;;
      *)
        name=${1#--}
        if [[ $1 != --* || " ${parts_of_full[*]} " != *" $name "* ]]; then
          misuse "test: unknown argument: $1"
        fi
        chosen+=("$name")
        ;;
    esac
    shift
  done
  setup_test "$preset"
  if ((is_full)) || [[ -n $only ]]; then
    unpack build/nginx "${packages_nginx[@]}"
    unpack build/prometheus "${packages_prometheus[@]}"
  fi

  part "build" build "$preset"
  if ((failed > 0)); then
    finish
  elif ((${#chosen[@]} > 0)); then
    for name in "${chosen[@]}"; do "test_$name"; done
  elif [[ -n $only ]]; then
    run_ctest "$preset" --build-config long --tests-regex "$only"
  elif ((is_full)); then
    test_style
    test_full
  else
    if [[ $preset == release ]]; then test_style; fi
    run_ctest "$preset" --label-exclude '^full$'
  fi
  finish
}
