# Files that are written by programs: ./dev generate, format and abi-baseline. Sourced by ./dev.
# shellcheck shell=bash

command_format() {
  need clang-format
  sources | xargs -r clang-format -i
}

# What follows from the tables of options, findings and statistics, the diagrams, and the bindings.
command_generate() {
  local table
  if (($# > 0)); then misuse "generate: takes no argument"; fi
  need "${packages_library[@]}" "${packages_test[@]}" swig python3 python3-pip mscgen
  build release options_of_pages findings_of_pages statistics_of_pages
  for table in options findings statistics; do "build/release/${table}_of_pages" --write; done
  packaging/site/draw
  capi/generate
  bindings/swig/generate
}

command_abi_baseline() {
  need "${packages_library[@]}" abigail-tools
  build release mortise
  tests/checks/abi/baseline build/release/libmortise.so --update
}
