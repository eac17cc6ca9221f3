# ./dev demo, ./dev evidence and ./dev bench. Sourced by ./dev.
# shellcheck shell=bash

# ---- the other commands --------------------------------------------------------------------
command_demo() {
  local languages=c,go,java,lua,python arguments=("$@") i language targets=(demo)
  for i in "${!arguments[@]}"; do
    if [[ ${arguments[i]} == --languages ]]; then languages=${arguments[i + 1]:-}; fi
  done
  for language in ${languages//,/ }; do
    # The demo itself reports an unknown language.
    if [[ $language =~ ^(c|go|java|lua|python)$ ]]; then targets+=("demo_worker_$language"); fi
  done
  setup_demo "$languages"
  build release "${targets[@]}"
  exec build/release/demo "$@"
}

# The tests in C and C++ with instrumented sources.
evidence_coverage() {
  if (($# > 0)); then misuse "evidence: --coverage takes no argument"; fi
  need "${packages_library[@]}" "${packages_server[@]}" "${packages_test[@]}" gcovr
  exec tests/evidence/coverage
}

command_evidence() {
  if [[ " $* " == *" --help "* && ${1:-} != --campaign ]]; then exec tests/evidence/run_slice --help; fi
  if [[ ${1:-} == --coverage ]]; then evidence_coverage "${@:2}"; fi
  need "${packages_library[@]}" "${packages_server[@]}" "${packages_go[@]}" "${packages_bindings[@]}" \
    iproute2 libgtest-dev luajit nlohmann-json3-dev python3 util-linux
  need_porcupine
  build release evidence_recorders evidence_checker evidence_inject_faults
  if [[ ${1:-} == --campaign ]]; then exec tests/evidence/campaign "${@:2}"; fi
  exec tests/evidence/run_slice "$@"
}

# Mortise beside the locks that others use.
bench_peers() {
  need "${packages_library[@]}" "${packages_server[@]}" "${packages_peers[@]}"
  build release bench_peers
  exec tests/bench/peers/run "$@"
}

command_bench() {
  if [[ ${1:-} == --peers ]]; then bench_peers "${@:2}"; fi
  need "${packages_library[@]}" "${packages_server[@]}" "${packages_bench[@]}" \
    "${packages_bindings[@]}" "${packages_go[@]}" "${packages_command[@]}"
  build release bench
  exec build/release/bench "$@"
}
