"""Takes connections on the box's loopback and carries them to a Unix socket: `relay.py SOCKET PORT_FILE`.

The port stands in the file from then on; a relay that is started again takes the port that stands there already.
The standard library alone, on Python 3.8 and later.
"""

# pathlib would double the time this takes to start:
# ruff: noqa: PTH105, PTH123

from __future__ import annotations

import os
import socket
import sys
import threading


def carry(source: socket.socket, target: socket.socket) -> None:
    """Bytes from one to the other until the source ends."""
    try:
        while data := source.recv(1 << 16):
            target.sendall(data)
    except OSError:
        pass
    for end, how in ((target, socket.SHUT_WR), (source, socket.SHUT_RD)):
        try:
            end.shutdown(how)
        except OSError:
            continue


def serve(connection: socket.socket, path: str) -> None:
    """One connection, both ways, until both have ended."""
    with connection, socket.socket(socket.AF_UNIX) as gateway:
        try:
            gateway.connect(path)
        except OSError:
            return
        back = threading.Thread(target=carry, args=(gateway, connection), daemon=True)
        back.start()
        carry(connection, gateway)
        back.join()


def listening(file: str) -> socket.socket:
    """A socket at the port of the file, or at a free one that is written there."""
    try:
        with open(file) as known:
            port = int(known.read())
    except (OSError, ValueError):
        port = 0
    found = socket.create_server(("127.0.0.1", port), backlog=64)
    with open(f"{file}.new", "w") as new:
        new.write(str(found.getsockname()[1]))
    os.replace(f"{file}.new", file)
    return found


def main(path: str, file: str) -> None:
    """Serve for ever."""
    with listening(file) as server:
        while True:
            connection, _ = server.accept()
            threading.Thread(target=serve, args=(connection, path), daemon=True).start()


if __name__ == "__main__":
    main(*sys.argv[1:3])
