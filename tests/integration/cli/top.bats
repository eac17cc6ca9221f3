# `mortise top`: on a terminal, and once for scripts.
load helpers

teardown() {
  if [[ -n ${screen:-} ]]; then $screen kill-server || true; fi
  local process
  for process in "${started[@]}"; do kill -TERM "$process" 2>/dev/null || true; done
}

# Two clients that give a lock to each other, for a minute.
contends() {
  mortise bench --for 1m >/dev/null 3>&- &
  started+=($!)
}

setup_terminal() {
  screen="tmux -L $BATS_TEST_NUMBER-top-$$"
  env -u TMUX $screen -f /dev/null new-session -d -x "$1" -y 24 \
    "PS1='ready> ' exec bash --norc --noprofile" 3>&-
  until_it shows "ready>"
}

shows() { $screen capture-pane -p | grep -q -- "$1"; }
types() { $screen send-keys "$@"; }

@test "top --once shows holders, waiters, and their times" {
  begin
  mortise exec "$name" -- true 3>&- &
  started+=($!)
  until_it waits
  run mortise top --once --every 2s
  fails_with 0
  [ "${#lines[@]}" = 1 ]
  [[ $output =~ ^"$name  mutex  $(hostname):$holder_process  "[0-9]+m?s"  1  "[0-9]+m?s"  0.0  0.0ms  -  -"$ ]]
}

@test "top counts grants, and what was waited for comes first" {
  contends
  begin
  mortise exec "$name" -- true 3>&- &
  mortise exec "$name" -- true 3>&- &
  until_it sh -c 'mortise list | grep "$name" | grep -q "  2  "'
  counts() {
    mortise top --json --every 500ms | python3 -c '
import json, os, sys
locks = json.load(sys.stdin)["locks"]
assert locks[0]["name"] == os.environ["name"] and locks[0]["waiters"] == 2, locks
busy = [one for one in locks if one["name"].startswith("mortise bench")]
assert busy and busy[0]["grants_per_s"] > 1 and busy[0]["mean_wait_ms"] < 1000, locks
assert 0.05 <= busy[0]["p50_wait_ms"] <= busy[0]["p99_wait_ms"], locks'
  }
  until_it counts
}

@test "top on a terminal goes on, fits it, and ends with q" {
  begin
  setup_terminal 100
  types "mortise top --every 200ms; echo code \$?" Enter
  until_it shows "^NAME  *KIND  *HOLDER  *LEFT  *WAITERS  *LONGEST  *GRANTS/S  *MEAN WAIT  *P50  *P99"
  until_it shows "^1 lock$"
  mortise exec "$name" -- true 3>&- &
  until_it shows "$(hostname):$holder_process  *[0-9]*m\?s  *1  "
  $screen resize-window -x 20 -y 6
  until_it shows "^NAME .*…$"
  [ "$($screen capture-pane -p | wc -L)" -le 20 ]
  types q
  until_it shows "^code 0"
}

@test "Ctrl-C in top leaves the terminal as it was" {
  setup_terminal 80
  types "mortise top" Enter
  until_it shows "^0 locks"
  types C-c
  until_it shows "ready>"
  types "echo visible" Enter
  until_it shows "^visible"
  types "stty -a | grep -o ' echo '; stty -a | grep -o ' icanon'" Enter
  until_it shows "^ icanon"
}

@test "top ends with its terminal, also where it ignores the hang-up" {
  run python3 - <<'P'
import os, pty, signal, time
process, terminal = pty.fork()
if process == 0:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.environ["TERM"] = "xterm"
    os.execvp("mortise", ["mortise", "top", "--every", "200ms"])
os.read(terminal, 1)
os.close(terminal)
for _ in range(1200):
    ended, status = os.waitpid(process, os.WNOHANG)
    if ended:
        break
    time.sleep(0.05)
else:
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
print(os.waitstatus_to_exitcode(status))
P
  fails_with 0
  [ "$output" = 74 ]
}

@test "top needs a terminal that is known, or --once" {
  run mortise top
  fails_with 64
  says "give --once"
  setup_terminal 80
  types "TERM=none mortise top; echo code \$?" Enter
  until_it shows 'unknown terminal "none"'
  until_it shows "^code 64"
  types "clear; env -u TERM mortise top; echo code \$?" Enter
  until_it shows 'unknown terminal ""; set TERM'
  run mortise top --every 1h --once
  fails_with 64
  says "give 100ms to 1m"
}

@test "only top loads ncurses" {
  begin
  run ! grep -q ncurses "/proc/$holder_process/maps"
  setup_terminal 80
  types "mortise top" Enter
  until_it shows "^1 lock"
  pane=$($screen display-message -p '#{pane_pid}')
  grep -q libncursesw "/proc/$(pgrep -P "$pane" -x mortise)/maps"
}
