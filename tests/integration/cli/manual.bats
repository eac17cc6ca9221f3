# The pages of the manual and the completions, as they are installed, and all examples of the helps.
load helpers

setup_file() {
  export prefix=$BATS_FILE_TMPDIR/prefix
  cmake --install "$(dirname "$MORTISE")" --prefix "$prefix" --component command >/dev/null
}

subcommands() { mortise --help | sed -nE 's/^  mortise ([a-z]+) .*/\1/p' | sort -u; }

# options_of <subcommand>: all that its --help names, in each spelling.
options_of() {
  mortise "$1" --help | sed -nE 's/^ {2,6}(-.*)/\1/p' | sed 's/  .*//' | grep -oE -- '--?[A-Za-z][a-z-]*'
}

# has_words <text> <word>…: each of them is a word of that text. Otherwise it prints the missing
# one.
has_words() {
  local text=$1 word
  shift
  for word in "$@"; do
    grep -qE -- "(^|[^[:alnum:]-])$word($|[^[:alnum:]-])" <<<"$text" || {
      echo "no $word in: $text" >&2
      return 1
    }
  done
}

# in_bash <word>…: what bash offers for the last of them.
in_bash() {
  XDG_DATA_DIRS=$prefix/share bash --norc -c '
    source /usr/share/bash-completion/bash_completion
    _completion_loader mortise || true
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_TYPE=9
    COMP_POINT=${#COMP_LINE}
    compopt() { :; }  # There is no line to edit.
    "$(complete -p mortise | sed "s/.*-F \([^ ]*\).*/\1/")"
    printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}

# in_zsh <text> <pattern>…: a terminal shows each when Tab is hit after it.
in_zsh() {
  local text=$1 pattern
  shift
  screen="tmux -S $(mktemp -d -p "$folder")/socket"  # One that ends is in the way of the next.
  env -u TMUX -u ZDOTDIR $screen -f /dev/null new-session -d -x 150 -y 100 "PS1='> ' exec zsh -f" 3>&-
  $screen send-keys "fpath=('$prefix/share/zsh/site-functions' \$fpath)" Enter \
    "zstyle ':completion:*' format 'give %d'" Enter \
    "autoload -Uz compinit; compinit -u -d '$BATS_FILE_TMPDIR/dump'; clear; echo ready" Enter
  started+=("$($screen display-message -p '#{pid}')")
  until_it shows '^ready'
  $screen send-keys "$text" Tab
  for pattern in "$@"; do until_it shows "$pattern"; done
  $screen kill-server
}

shows() { $screen capture-pane -p | grep -qE -- "$1"; }

@test "no page has a fault" {
  local page
  for page in "$prefix"/share/man/man1/*; do
    # scdoc has a macro after each heading and item that does nothing there.
    mandoc -T lint -W warning "$page" >complaints || true
    sed -i '/WARNING: skipping paragraph macro: PP/d' complaints
    LC_ALL=C.UTF-8 man --warnings --encoding=UTF-8 --local-file "$page" 2>>complaints >shown
    groff -ww -man -K utf8 -T utf8 "$page" 2>>complaints >/dev/null
    lexgrog "$page" | grep -qF ": \"$(basename "$page" .1) - "
    [ -s shown ]
    run cat complaints
    [ -z "$output" ]
  done
}

@test "each subcommand and each option is in its page and in both completions" {
  local subcommand options columns
  has_words "$(MANPATH=$prefix/share/man man mortise)" $(subcommands | sed s,^,mortise-,)
  has_words "$(in_bash mortise '')" $(subcommands)
  mapfile -t columns < <(subcommands | sed 's/$/ *--/')
  in_zsh 'mortise ' "${columns[@]}"
  [ "$(subcommands | wc -l)" -ge 5 ]
  for subcommand in $(subcommands); do
    options=$(options_of "$subcommand")
    has_words "$options" --help
    has_words "$(MANPATH=$prefix/share/man man "mortise-$subcommand")" $options
    has_words "$(in_bash mortise "$subcommand" -)" $options
    mapfile -t columns < <(sed 's/.*/(^| )& /' <<<"$options")
    in_zsh "mortise $subcommand -" "${columns[@]}"
  done
}

@test "bash completes values, and the command after --" {
  touch token.txt
  mkdir bin
  printf '#!/bin/sh\n' >bin/backup-everything
  chmod +x bin/*
  PATH=$folder/bin:$PATH
  [ "$(in_bash mortise do)" = doctor ]
  [ "$(in_bash mortise exec --once)" = --once-per ]
  [ "$(in_bash mortise exec --token-file to)" = token.txt ]
  [ -z "$(in_bash mortise exec --wait '')" ]
  [ "$(in_bash mortise exec -n nightly -- backup-e)" = backup-everything ]
  [ "$(in_bash mortise exec -n nightly -- cat to)" = token.txt ]
  [ "$(in_bash mortise exec nightly -- mortise show --js)" = --json ]
}

@test "zsh completes values, and the command after --" {
  touch token.txt
  mkdir bin
  printf '#!/bin/sh\n' >bin/backup-everything
  chmod +x bin/*
  PATH=$folder/bin:$PATH
  in_zsh 'mortise do' '> mortise doctor'
  in_zsh 'mortise exec --once' '> mortise exec --once-per='
  in_zsh 'mortise exec --token-file to' '> .* token.txt'
  in_zsh 'mortise exec -n nightly -- backup-e' '> .* backup-everything'
  in_zsh 'mortise exec -n nightly -- cat to' '> .* token.txt'
  in_zsh 'mortise exec nightly -- mortise show --js' '> .* --json'
  in_zsh 'mortise show ' '^give NAME'
}

@test "each --help begins with an example, and each example runs" {
  local subcommand line answers
  # The terminal stays open.
  mkfifo answers
  exec {answers}<>answers
  mkdir bin
  printf '#!/bin/sh\necho "$(basename "$0") ran"\n' | tee bin/backup bin/report >/dev/null
  chmod +x bin/*
  PATH=$folder/bin:$PATH
  for subcommand in '' $(subcommands); do
    run --separate-stderr mortise ${subcommand:+"$subcommand"} --help
    fails_with 0
    [ -z "$stderr" ]
    [[ ${lines[1]} == "  mortise ${subcommand:-exec} "* || ${lines[1]} == "  mortise $subcommand" ]]
    # They end with an empty line.
    while read -r line && [ -n "$line" ]; do
      sed 's/   .*//' <<<"$line" >example
      echo "$line"
      # On a terminal, a user agrees, and then leaves. The exit code 1 is for a fault, and for a
      # missing hold.
      printf 'y\nq' >&"$answers"
      id=$(mortise acquire --hold-for 60s "$name $RANDOM")
      export id
      run timeout 60 script -qec "bash -o pipefail example" /dev/null <&"$answers"
      [ "$status" -le 1 ] || fails_with 0
      [[ $line != *" -- "* ]] || says " ran"
    done < <(mortise ${subcommand:+"$subcommand"} --help | tail -n +3)
  done
}
