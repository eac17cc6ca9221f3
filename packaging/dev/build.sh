# Building a preset. Sourced by ./dev.
# shellcheck shell=bash

configure=()  # For CMake, beside what the preset says.
# build <preset> [target…]: two of these at once on one preset wait for each other.
build() {
  local preset=$1 target arguments=()
  shift
  for target in "$@"; do arguments+=(--target "$target"); done
  if [[ -n $(type -P ninja) ]]; then
    export CMAKE_GENERATOR=Ninja
  else
    arguments+=(--parallel "$(nproc)")
  fi
  mkdir -p build
  exec {lock}>"build/.$preset.lock"
  flock "$lock"
  cmake --preset "$preset" "${configure[@]}" {lock}>&- >"build/.$preset.log" || {
    cat "build/.$preset.log"
    return 1
  }
  cmake --build --preset "$preset" "${arguments[@]}" {lock}>&- || return 1
  exec {lock}>&-
}

sources() {
  find src capi cli examples tests \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.hpp' \) -print | sort
}

command_build() {
  local preset=${1:-release}
  need "${packages_library[@]}"
  case $preset in
    release | asan-ubsan | tsan) need "${packages_test[@]}" "${packages_bindings[@]}" ;;
    fuzz) need "${packages_fuzz[@]}" ;;
    library) need "${packages_bindings[@]}" ;;
    *) misuse "build: unknown preset: $preset" ;;
  esac
  build "$preset"
}
