# relay.sh SOCKET PORT_FILE: the relay, for ever. A command of the model may end it; it comes back at the same port, and
# the harness asks again.
while true; do
  if command -v python3 > /dev/null; then python3 -I -S relay.py "$1" "$2"; else node relay.js "$1" "$2"; fi
  sleep 0.2
done
