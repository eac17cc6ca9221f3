# `mortise` in launcher of a service that no locks are possible with: the real proxy twemproxy.
load helpers
load deployments

setup() {
  ports=() buses=() control=() started=()
  cd "$BATS_TEST_TMPDIR" || return
  PATH=$(dirname "$MORTISE"):$PATH
  mkfifo end
  "$support/twemproxy" "${MORTISE_TEST_URL#unix://}" <end >said 3>&- &
  exec {end}>end
  control+=("$end")
  until_it is_there said
  read -r _ proxy <said
  export MORTISE_URL=unix://$proxy/proxy.sock
}

teardown() { end_servers; }

@test "a command behind twemproxy is not run, and the commands that the proxy lacks are named" {
  run mortise exec name -- touch ran
  fails_with 69
  says "closes the connection at HELLO, CLIENT, MULTI, SCRIPT and SUBSCRIBE, as twemproxy does"
  says "give the address of the server behind it"
  [ ! -e ran ]
}

@test "mortise doctor names the commands that twemproxy lacks" {
  run mortise doctor
  fails_with 69
  says "locks need MULTI and SUBSCRIBE"
}
