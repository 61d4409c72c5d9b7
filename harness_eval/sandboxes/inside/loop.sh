# The first process of a box that has no python3: it takes requests on descriptor 0, a line each, and answers on 1.
#
# The caller gives `token`, which no command knows, and programs that nobody may read, `cat` and `head`. Requests are the
# token, a nonce, and a word: `start [SIZE]`, followed by a job's text, the nonce on a line, and SIZE bytes; `alive PID
# PID`; `cut RELAY`; `kill FIRST SINCE RELAY`; `end`. What comes back is what the job writes, with marks in it: the nonce,
# then a word. To kill takes nothing but what a shell does by itself, since no process can be started where a limit on
# their number has been reached.

exec 9<&0 8>&1 </dev/null >/dev/null 2>&1
environment=$(export -p)
unset born code first found job line new nonce parent pid pids place rounds self session shell since spared spool stat \
  stopped top up word OLDPWD
umask 022
trap '' INT # it would end us
newline='
'

find_program() {
  for place in /usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin; do
    [ ! -x "$place/$1" ] || { found=$place/$1; return 0; }
  done
  found=
  return 1
}

find_program setsid
session=$found
find_program bash || find_program sh
shell=$found

read_stat() { # the fields of a process after its name, which may hold anything
  stat=
  while IFS= read -r line || [ -n "$line" ]; do stat=$stat$line; done <"/proc/$1/stat" || return 1
  pid=${stat%% *}
  stat=${stat##*) }
}

mark() { # with the id and the start time of the process that runs this
  word=$1
  set -- $stat
  printf '%s%s %s %s\n' "$nonce" "$word" "$pid" "${20}"
}

look() { # at all processes that live: who their parents are, when they started
  pids=
  for place in /proc/[0-9]*; do
    read_stat "${place#/proc/}" || continue
    set -- $stat
    [ "$1" = Z ] || pids="$pids $pid"
    eval "parent_$pid=$2 born_$pid=${20}"
  done
}

find_mine() { # what is to be killed: all, or what descends from a command or from an orphan younger than it
  found=
  look
  for pid in $pids; do
    top=$pid
    while eval "up=\${parent_$top:-0}" && [ "$up" -gt 1 ]; do top=$up; done
    eval "born=\${born_$top:-0}"
    if [ "$pid" = 1 ] || [ "$top" = "$spared" ]; then
      continue
    elif [ "$born" -gt "$since" ] || { [ "$born" = "$since" ] && [ "$top" -ge "$first" ]; }; then
      found="$found $pid"
    fi
  done
}

kill_mine() { # each is stopped first, so that none can start another meanwhile
  first=$1 since=$2 spared=$3 stopped=' ' rounds=0
  while rounds=$((rounds + 1)) && [ "$rounds" -lt 100 ]; do
    find_mine
    new=
    for pid in $found; do
      case $stopped in *" $pid "*) ;; *) new="$new $pid" ;; esac
    done
    [ -n "$new" ] || break
    kill -STOP $new
    stopped="$stopped${new# } "
  done
  while find_mine && [ -n "$found" ] && rounds=$((rounds + 1)) && [ "$rounds" -lt 1000 ]; do
    kill -9 $found
    jobs
  done
}

signal_below() {
  look
  for pid in $pids; do
    eval "up=\$parent_$pid"
    [ "$up" != "$2" ] || kill "$1" "$pid"
  done
}

relay() { # pass on what a job writes; once cut off, read it lest its writers block, and drop it
  read_stat self
  set -- $stat
  kill -9 "$2" # whoever waits for us
  mark relay
  "$cat"
  code=$?
  printf '%send\n' "$nonce"
  [ "$code" = 0 ] || exec "$cat" >/dev/null 8>&-
}

await_orphaned() { # lest the job can stop whoever waits for it, and so us
  while read_stat "$self"; do
    set -- $stat
    [ "$2" != 1 ] || break
    (:) # lets others go first
  done
}

# What a shell starts in the background ignores SIGINT, and so does all that this starts. So nothing is: the subshell that
# waits for the job is killed by it, and we go on.
start() {
  job=
  while IFS= read -r line <&9 && [ "$line" != "$nonce" ]; do job=$job$line$newline; done
  if [ -n "$1" ]; then
    spool=/tmp/.$nonce
    (set -C && exec "$head" -c "$1" <&9 >"$spool") || job="rm -f $spool; exit 28" # no space is left
  fi
  ({ trap - INT; read_stat self; self=$pid; mark command; (eval "$job"); printf '%scode %d\n' "$nonce" $?; } 8>&- 9<&- 2>&1 | relay >&8 9<&-)
}

lives() {
  read_stat "$1" && [ "${stat%% *}" != Z ]
}

printf '%sready\n' "$token" >&8
while IFS= read -r line <&9; do
  case $line in "$token "*) ;; *) continue ;; esac
  set -- $line
  nonce=$2
  case $3 in
    start)
      command eval 'start "$4"'
      [ $? = 137 ] || printf '%sfailed\n' "$nonce" >&8
      ;;
    alive) lives "$4" || lives "$5" || printf '%send\n' "$nonce" >&8 ;;
    cut) signal_below -9 "$4" ;;
    kill)
      kill_mine "$4" "$5" "$6"
      kill -CONT "$6"
      signal_below -CONT "$6"
      printf '%skilled\n' "$nonce" >&8
      ;;
    end)
      kill_mine 2 0 ''
      printf '%send\n' "$nonce" >&8
      ;;
  esac
done
kill_mine 2 0 ''
