"""Plays hidden sessions with the service, started apart from here, and compares every reply."""

import functools
import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from solver import copied
from workspace import digest_of

SOLVER = shlex.split(os.environ.get("AS_SOLVER", ""))
GIVEN = {
    "PROTOCOL.md": "71c45ef0ded4afc3ea431f66dc90fcd61b768f0159132f61a5931c313d42624a",
    "try_session.py": "f5ed4100720682942cf0f0ec86e1429f9df5e6820bc237e181eaa9d0026f9191",
}
CHANGEABLE = {"shelf/__init__.py", "shelf/__main__.py", "shelf/books.py", "shelf/frames.py", "shelf/server.py"}
ABSENT = object()
NAME = "\u00c5str\u00f6m \u2600"  # longer in bytes than in characters


def ask(method: str, identity: Any = ABSENT, **params: Any) -> dict[str, Any]:
    """A request, or a notification without an id."""
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    return message if identity is ABSENT else {**message, "id": identity}


def result(identity: Any, value: Any) -> dict[str, Any]:
    """A good reply."""
    return {"jsonrpc": "2.0", "id": identity, "result": value}


def error(identity: Any, code: int) -> dict[str, Any]:
    """A bad one; its text is free."""
    return {"jsonrpc": "2.0", "id": identity, "error": code}


def frame(body: Any, header: str = "Content-Length: {}\r\n") -> bytes:
    """A message on the wire; a body of bytes is sent as it is."""
    data = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    return header.format(len(data)).encode() + b"\r\n" + data


def replies(output: bytes) -> list[Any]:
    """The bodies of the frames of an output, error texts replaced by nothing."""
    found = []
    while output:
        header, separator, output = output.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b":", 1) for line in header.split(b"\r\n"))
        length = int(fields[b"content-length"])
        assert separator, "a frame is broken off"
        assert length <= len(output), "a frame is broken off"
        found.append(json.loads(output[:length].decode()))
        output = output[length:]
    return [[plain(each) for each in one] if isinstance(one, list) else plain(one) for one in found]


def plain(reply: Any) -> Any:
    """A reply with the code of its error alone; one whose error has no text stays as it is."""
    problem = reply.get("error")
    if isinstance(problem, dict) and isinstance(problem.get("message"), str):
        return {**reply, "error": problem.get("code")}
    return reply


def same(found: Any, wanted: Any) -> bool:
    """Whether replies are equal as JSON, where 1 is not true."""
    return json.dumps(found, sort_keys=True) == json.dumps(wanted, sort_keys=True)


@functools.cache
def modules() -> list[str]:
    """The modules of the service, before any of its code ran here."""
    return sorted(path.as_posix() for path in Path("shelf").rglob("*.py") if not path.is_dir())


def play(*messages: bytes) -> list[Any]:
    """What a fresh service answers to these bytes; it has to end by itself with 0."""
    limited = ["bash", "-c", 'ulimit -f 2048; exec "$@"', "-", *SOLVER, "python3", "-B", "-m", "shelf"]
    options = {"cwd": copied(modules()), "input": b"".join(messages), "stderr": subprocess.DEVNULL, "timeout": 10}
    with tempfile.TemporaryFile() as out:
        done = subprocess.run(limited, stdout=out, check=False, **options)
        assert done.returncode == 0, f"the service ended with {done.returncode}"
        out.seek(0)
        return replies(out.read())


def expect(dialogue: list[tuple[Any, Any]]) -> None:
    """Play a session; None stands for no reply."""
    sent = [message if isinstance(message, bytes) else frame(message) for message, _ in dialogue]
    found = play(*sent)
    wanted = [reply for _, reply in dialogue if reply is not None]
    for at, (got, right) in enumerate(zip(found, wanted, strict=False), 1):
        assert same(got, right), f"reply {at} is {str(got)[:120]}"
    assert len(found) == len(wanted), f"{len(found)} replies instead of {len(wanted)}"


def book(title: str, pages: int, *tags: str) -> dict[str, Any]:
    """A book as `get` shows it."""
    return {"title": title, "pages": pages, "tags": list(tags)}


def frames() -> None:
    """Bytes are counted, and headers may be written in any way."""
    expect(
        [
            (frame(ask("put", 1, title=NAME, pages=7), "CONTENT-LENGTH: {}\r\nX-Client: 4\r\n"), result(1, 1)),
            (frame(ask("put", 2, title="Zoo", pages=9), "Via: content-length\r\ncontent-length:{}\r\n"), result(2, 2)),
            (ask("get", 3, title=NAME), result(3, book(NAME, 7))),
            (ask("list", 4), result(4, [NAME, "Zoo"])),
        ]
    )


def notifications() -> None:
    """Never answered but carried out; ids of any kind are."""
    expect(
        [
            (ask("put", title="A", pages=1), None),
            (ask("put", title="B", pages="many"), None),
            (ask("burn", title="A"), None),
            (ask("list", None), result(None, ["A"])),
            (ask("list", 0), result(0, ["A"])),
            (ask("list", ""), result("", ["A"])),
            ({"jsonrpc": "2.0", "method": "list", "id": 2.5}, result(2.5, ["A"])),
            (ask("exit"), None),
            (ask("list", 9), None),
        ]
    )


def batches() -> None:
    """In order, without replies to notifications, each reply from its own moment."""
    several = [ask("put", 1, title="A", pages=1), ask("tag", 2, title="A", tag="x"), ask("tag", title="A", tag="y")]
    several += [ask("get", 3, title="A"), 7, ask("tag", "4", title="A", tag="z"), {"id": 5}, ask("drop", 6, title="B")]
    answers = [result(1, 1), result(2, ["x"]), result(3, book("A", 1, "x", "y")), error(None, -32600)]
    answers += [result("4", ["x", "y", "z"]), error(5, -32600), error(6, -32001)]
    expect(
        [
            (several, answers),
            ([], error(None, -32600)),
            ([ask("tag", title="A", tag="w"), ask("burn")], None),
            ([ask("exit"), ask("get", 8, title="A")], [result(8, book("A", 1, "x", "y", "z", "w"))]),
        ]
    )


def errors() -> None:
    """Each with its code and id, and the session goes on."""
    expect(
        [
            (frame(b'{"jsonrpc": "2.0", "method"'), error(None, -32700)),
            (frame(b"[1, "), error(None, -32700)),
            ("list", error(None, -32600)),
            ({"method": "list", "id": "old"}, error("old", -32600)),
            ({"jsonrpc": "2.0", "method": 5, "id": 5}, error(5, -32600)),
            ({"jsonrpc": "2.0", "method": "list", "params": [], "id": 6}, error(6, -32600)),
            ({"jsonrpc": "2.0", "method": "list", "id": {}}, error(None, -32600)),
            (ask("answer_one", 7), error(7, -32601)),
            (ask("find", 8, title="A"), error(8, -32601)),
            (ask("put", 9, title="A"), error(9, -32602)),
            (ask("put", 10, title="A", pages=True), error(10, -32602)),
            (ask("put", 11, title=["A"], pages=1), error(11, -32602)),
            (ask("put", 12, title="A", pages=1), result(12, 1)),
            (ask("tag", 13, title="A"), error(13, -32602)),
            (ask("commit", 14), error(14, -32002)),
            (ask("rollback", 15), error(15, -32002)),
            (ask("get", 16, title="A"), result(16, book("A", 1))),
            (ask("exit", 17), result(17, None)),
            (ask("list", 18), None),
        ]
    )


def transactions() -> None:
    """All of it is undone, also when there was nothing before."""
    expect(
        [
            (ask("begin", 1), result(1, None)),
            (ask("begin", 2), error(2, -32002)),
            (ask("put", 3, title="B", pages=2), result(3, 1)),
            (ask("rollback", 4), result(4, 0)),
            (ask("put", 5, title="B", pages=2), result(5, 1)),
            (ask("put", 6, title="A", pages=1), result(6, 2)),
            (ask("tag", 7, title="B", tag="x"), result(7, ["x"])),
            (ask("tag", 8, title="B", tag="x"), result(8, ["x"])),
            (ask("begin", 9), result(9, None)),
            (ask("put", 10, title="B", pages=3), result(10, 2)),
            (ask("tag", 11, title="B", tag="y"), result(11, ["x", "y"])),
            (ask("drop", 12, title="A"), result(12, 1)),
            (ask("rollback", 13), result(13, 2)),
            (ask("get", 14, title="B"), result(14, book("B", 2, "x"))),
            (ask("begin", 15), result(15, None)),
            (ask("put", 16, title="B", pages=4), result(16, 2)),
            (ask("commit", 17), result(17, 2)),
            (ask("rollback", 18), error(18, -32002)),
            (ask("get", 19, title="B"), result(19, book("B", 4, "x"))),
            (ask("list", 20), result(20, ["B", "A"])),
        ]
    )


def untouched() -> None:
    """The files that were given, by digest; no new ones outside of the package."""
    for name, wanted in GIVEN.items():
        assert digest_of(name) == wanted, name
    found = {path.as_posix() for path in Path().rglob("*") if not path.is_dir() and "__pycache__" not in path.parts}
    new = {name for name in found - set(GIVEN) - CHANGEABLE if not (name.startswith("shelf/") and name.endswith(".py"))}
    assert not new, f"new: {sorted(new)[:5]}"


GOALS = (frames, notifications, batches, errors, transactions)
KEPT = (untouched,)


def holds(check: Callable[[], None]) -> bool:
    """Whether a check passes; whatever stands in its way is the solver's."""
    try:
        check()
    except (AssertionError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as problem:
        print(ascii(f"{check.__name__}: {type(problem).__name__} {problem}")[:300])
        return False
    except subprocess.SubprocessError as problem:
        print(ascii(f"{check.__name__}: {type(problem).__name__}"))
        return False
    return True


verdict = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
verdict.write_text("0\n", encoding="utf-8")
reached = [holds(check) for check in GOALS]
kept = [holds(check) for check in KEPT]
verdict.write_text(f"{sum(reached) / len(reached) * (0.5 if False in kept else 1.0):.4f}\n", encoding="utf-8")
