# ./dev install and ./dev uninstall. Sourced by ./dev.
# shellcheck shell=bash

# Programs that count wherever they come from, as not everybody has Debian's.
need_tools() {
  local packages=()
  if [[ -z $(type -P "${CC:-cc}") || -z $(type -P "${CXX:-c++}") ]]; then packages+=(g++); fi
  if [[ -z $(type -P cmake) ]]; then packages+=(cmake); fi
  if [[ -z $(type -P ninja) && -z $(type -P make) ]]; then packages+=(ninja-build); fi
  need "${packages[@]}"
}

# set_prefix <command> <folder>: sets `prefix`, its list of what was installed, `installed`, and `run`,
# what writes there: only that is done as root, so that what was built stays this user's.
set_prefix() {
  local existing
  if [[ -z $2 ]]; then misuse "$1: give a folder, e.g. /usr/local"; fi
  prefix=$(realpath -m "$2")
  installed=share/mortise/installed
  existing=$prefix
  until [[ -e $existing ]]; do existing=$(dirname "$existing"); done
  run=()
  if [[ ! -w $existing ]]; then run=(sudo); fi
}

# So that a program finds the library in /usr/local/lib at once, and no longer when it is gone.
refresh_loader() {
  if ((EUID == 0 || ${#run[@]} > 0)); then "${run[@]}" ldconfig; fi
}

# install_components <component>…: into DESTDIR if that is set.
install_components() {
  local component
  for component in "$@"; do
    "${run[@]}" cmake --install build/library --prefix "$prefix" --component "$component" || return 1
  done
}

# What was installed in `prefix` before and what the stage has, one a line. Folders end in a slash, and are
# there if they were made for it.
list_installed() {
  local stage=$1 path
  if [[ -e $prefix/$installed ]]; then cat "$prefix/$installed"; fi
  (cd "$stage" && find . ! -type d)
  (cd "$stage" && find . -type d) | while read -r path; do
    if [[ ! -d $prefix/$path ]]; then echo "$path/"; fi
  done
}

command_install() {
  local folder='' only=c,go,java,lua,python,command language components=() packages=() stage=$PWD/build/stage
  while (($# > 0)); do
    case $1 in
      --only)
        only=${2:-}
        shift
        ;;
      -*) misuse "install: unknown argument: $1" ;;
      *) folder=$1 ;;
    esac
    shift || misuse "install: --only: give c, go, java, lua, python or command"
  done
  set_prefix install "$folder"
  configure=(-DMORTISE_JAVA=OFF -DMORTISE_LUA=OFF -DMORTISE_PYTHON=OFF
    -DMORTISE_COMMAND=OFF)
  for language in ${only//,/ }; do
    case $language in
      c) components+=(runtime dev) ;;
      go) components+=(runtime dev go) ;;
      java)
        components+=(java)
        packages+=("${packages_java[@]}")
        configure+=(-DMORTISE_JAVA=ON)
        ;;
      lua)
        components+=(runtime lua)
        packages+=("${packages_lua[@]}")
        configure+=(-DMORTISE_LUA=ON)
        ;;
      python)
        components+=(runtime python)
        packages+=("${packages_python[@]}")
        configure+=(-DMORTISE_PYTHON=ON)
        ;;
      command)
        components+=(command)
        packages+=("${packages_command[@]}")
        configure+=(-DMORTISE_COMMAND=ON)
        ;;
      *) misuse "install: unknown part: $language" ;;
    esac
  done
  if ((${#components[@]} == 0)); then misuse "install: --only: give c, go, java, lua, python or command"; fi
  need_tools
  need "${packages[@]}"
  build library

  # First elsewhere, to know what will come.
  rm -rf "$stage"
  (run=() && DESTDIR=$stage install_components "${components[@]}") >/dev/null
  mkdir -p "$stage$prefix/share/mortise"
  touch "$stage$prefix/$installed"
  list_installed "$stage$prefix" | sort -u >build/installed
  install_components "${components[@]}"
  "${run[@]}" cmake -E copy build/installed "$prefix/$installed"
  rm -rf "$stage"
  refresh_loader
}

command_uninstall() {
  if (($# > 1)); then misuse "uninstall: give one folder"; fi
  set_prefix uninstall "${1:-}"
  if [[ ! -e $prefix/$installed ]]; then
    echo "./dev uninstall: $prefix: nothing installed by ./dev: no $prefix/$installed" >&2
    exit 1
  fi
  cp "$prefix/$installed" build/installed
  cd "$prefix"
  grep -v '/$' "$OLDPWD/build/installed" | "${run[@]}" xargs -d '\n' rm -f --
  # The inner ones first. Those that have something else in them stay.
  sed -n '\,^\./$,d; \,/$,p' "$OLDPWD/build/installed" | sort -r |
    "${run[@]}" xargs -r -d '\n' rmdir --ignore-fail-on-non-empty --
  cd "$OLDPWD"
  if grep -qx '\./' build/installed; then "${run[@]}" rmdir --ignore-fail-on-non-empty "$prefix"; fi
  refresh_loader
}
