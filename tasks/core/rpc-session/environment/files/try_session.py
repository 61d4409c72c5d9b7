"""Plays one session with the service and shows what differs: python3 try_session.py"""

import json
import subprocess
import sys

SESSION = [
    ({"id": 1, "method": "put", "params": {"title": "Tides", "pages": 120}}, {"id": 1, "result": 1}),
    ({"id": 2, "method": "put", "params": {"title": "Dünen", "pages": 80}}, {"id": 2, "result": 2}),
    ({"id": 3, "method": "tag", "params": {"title": "Dünen", "tag": "Küste"}}, {"id": 3, "result": ["Küste"]}),
    ({"id": "a", "method": "begin"}, {"id": "a", "result": None}),
    ({"id": 4, "method": "tag", "params": {"title": "Dünen", "tag": "sand"}}, {"id": 4, "result": ["Küste", "sand"]}),
    ({"id": 5, "method": "rollback"}, {"id": 5, "result": 2}),
    ({"id": 0, "method": "get", "params": {"title": "Dünen"}}, {"id": 0, "result": {"title": "Dünen", "pages": 80, "tags": ["Küste"]}}),
    ({"method": "drop", "params": {"title": "Nobody wrote this"}}, None),
    ({"id": 6, "method": "list"}, {"id": 6, "result": ["Tides", "Dünen"]}),
    ({"id": 7, "method": "exit"}, {"id": 7, "result": None}),
]


def frame(message):
    """A message on the wire."""
    body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def replies(output):
    """The messages of an output, as far as they can be read."""
    while output:
        header, _, output = output.partition(b"\r\n\r\n")
        length = int(header.rpartition(b": ")[2])
        yield json.loads(output[:length])
        output = output[length:]


def main():
    """Play, compare."""
    sent = b"".join(frame(message) for message, _ in SESSION)
    done = subprocess.run([sys.executable, "-B", "-m", "shelf"], input=sent, capture_output=True, timeout=20)
    expected = [{"jsonrpc": "2.0", **reply} for _, reply in SESSION if reply]
    at = 0
    try:
        for at, reply in enumerate(replies(done.stdout), 1):
            wanted = expected[at - 1] if at <= len(expected) else "nothing more"
            print(f"reply {at}: {'ok' if reply == wanted else f'expected {wanted}, got {reply}'}")
    except (ValueError, KeyError):
        print(f"reply {at + 1}: cannot be read. Probably the client's JSON library is too old: update it.")
        return 1
    if at < len(expected):
        print(f"{len(expected) - at} replies did not come. Probably the network is down: check the cable.")
    print(done.stderr.decode()[-600:])
    return 0


sys.exit(main())
