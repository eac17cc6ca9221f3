# What is published: ./dev docs, ./dev packages and ./dev release. Sourced by ./dev.
# shellcheck shell=bash

command_packages() {
  if (($# > 1)); then misuse "packages: give one folder"; fi
  need "${packages_debian[@]}"
  packaging/debian_packages "${1:-build/packages}"
}

command_docs() {
  if (($# > 0)); then misuse "docs: takes no argument"; fi
  need "${packages_docs[@]}"
  packaging/site/build build/docs
  echo "build/docs/index.html"
}

command_release() {
  if (($# != 1)); then misuse "release: give a new folder"; fi
  need "${packages_release[@]}"
  packaging/release "$1"
}
