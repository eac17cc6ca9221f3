# On a terminal it is as if the command ran alone, in a shell with job control.
load helpers

setup_terminal() {
  screen="tmux -L $BATS_TEST_NUMBER-$$"
  env -u TMUX $screen -f /dev/null new-session -d -x "${1:-80}" -y 24 \
    "PS1='ready> ' exec bash --norc --noprofile" 3>&-
  until_it shows "ready>"
}

teardown() { if [[ -n ${screen:-} ]]; then $screen kill-server || true; fi; }

shows() { $screen capture-pane -p | grep -q -- "$1"; }

types() { $screen send-keys "$@"; }

@test "Ctrl-C ends the command, and the loop around it" {
  setup_terminal
  types "while :; do mortise exec '$name' -- sh -c 'echo begun; sleep 100'; done" Enter
  until_it shows "^begun"
  types C-c
  types "echo the loop is over" Enter
  until_it shows "^the loop is over"
  [ "$($screen capture-pane -p | grep -c '^begun')" = 1 ]
  is_free
}

@test "a command that handles Ctrl-C goes on and ends as it likes" {
  setup_terminal
  types "mortise exec '$name' -- sh -c 'trap \"echo caught\" INT; echo begun; for i in 1 2 3 4 5; do sleep 0.4; done; exit 3'; echo code \$?" Enter
  until_it shows "^begun"
  types C-c
  until_it shows "caught"
  until_it shows "^code 3"
  [ "$($screen capture-pane -p | grep -c '^caught\|\^Ccaught')" = 1 ]
}

@test "Ctrl-C comes once" {
  cat >"$folder/count.py" <<'P'
import signal, socket, time
reader, writer = socket.socketpair()
writer.setblocking(False)
signal.set_wakeup_fd(writer.fileno())
signal.signal(signal.SIGINT, lambda *_: None)
print("begun", flush=True)
reader.recv(1)
time.sleep(0.5)
reader.setblocking(False)
try:
    reader.recv(1)
    print("\nagain")
except BlockingIOError:
    print("\nonce")
P
  setup_terminal
  types "mortise exec '$name' -- /usr/bin/python3 '$folder/count.py'" Enter
  until_it shows "^begun"
  types C-c
  until_it shows "^once"
}

@test "Ctrl-Z stops it, the lock stays held, and fg goes on" {
  setup_terminal
  types "mortise exec --lease 2s '$name' -- sh -c 'echo begun; read line; echo got \$line'" Enter
  until_it shows "^begun"
  types C-z
  until_it shows "Stopped"
  sleep 3
  run mortise exec -n "$name" -- true
  fails_with 1
  types "fg" Enter
  sleep 0.3
  types "hello" Enter
  until_it shows "^got hello"
  is_free
}

@test "Ctrl-Z while it waits: it does not begin before fg" {
  setup_terminal
  begin
  types "mortise exec '$name' -- sh -c 'echo runs; touch \"$folder/ran\"'" Enter
  until_it waits
  types C-z
  until_it shows "Stopped"
  kill "$command"
  sleep 1
  [ ! -e "$folder/ran" ]
  types "fg" Enter
  until_it is_free
  until_it test -e "$folder/ran"
}

@test "the window's size is the command's" {
  setup_terminal
  types "mortise exec '$name' -- sh -c 'trap \"stty size\" WINCH; echo begun; for i in \$(seq 100); do sleep 0.2; done'" Enter
  until_it shows "^begun"
  $screen resize-window -x 60 -y 20
  until_it shows "20 60"
  types C-c
}

@test "in a pipeline the others live, whatever ends the command" {
  setup_terminal
  types "mortise exec --at-most 5s --grace 100ms '$name' -- sh -c 'echo one; sleep 100' | (cat; echo reader over)" Enter
  until_it shows "^reader over"
  shows "^one"
}

@test "a terminal of 20 columns, and none at all" {
  setup_terminal 20
  types "mortise version" Enter
  until_it shows "^mortise 1"
  types "mortise exec '$name' -- echo ran" Enter
  until_it shows "^ran"
  run env -u TERM mortise exec "$name" -- true
  fails_with 0
}
