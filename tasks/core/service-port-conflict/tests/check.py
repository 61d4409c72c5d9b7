"""Did the younger service move to the lowest free port of its team's block, and nothing else?"""

import hashlib
import os
from pathlib import Path

from workspace import content, digest_of

FILE = Path("services/tapir.conf")
BEFORE = {
    "name": "tapir",
    "team": "beta",
    "since": "2023-02-20",
    "http": "8131",
    "metrics": "8294",
    "address": "127.0.0.1",
    "restart_after_s": "5",
    "log": "/var/log/tapir.log",
}
OTHER_SERVICES = "559387f0bc4266b3bd49f53f395558daf297aa5be6feaf5b9d47a921f96e950c"
UNTOUCHED = {
    "blocks.json": "76308425353fabdb6f913c2d54f341c83762abc5efdb301cc9224b2c82d4bd96",
    "check_ports.py": "d3c84fee7cdf53c626dc59c735319d8d34ac77ac66fb1f9b9929dec2e43a2328",
}


def settings() -> list[tuple[str, str]]:
    """All settings of the younger service in order, doubles included."""
    lines = [line.partition("=") for line in content(str(FILE)).decode("utf-8").splitlines() if line.strip()]
    return [(key.strip(), value.strip()) for key, _, value in lines]


def found() -> None:
    """The note names the right service, setting and old port."""
    words = content("moved.txt").decode("utf-8-sig").split()
    assert words[:3] == ["tapir", "metrics", "8294"], f"moved.txt says {words[:6]}"


def moved() -> None:
    """The colliding setting has the right port, and the note says so."""
    assert dict(settings())["metrics"] == "8109", f"tapir now has {settings()}"


def noted() -> None:
    """The note is the one line that was asked for."""
    text = content("moved.txt").decode("utf-8-sig")
    assert text.strip() == "tapir metrics 8294 8109", f"moved.txt says {text[:80]!r}"


def other_settings() -> None:
    """The younger service is otherwise what it was."""
    rest = [pair for pair in settings() if pair[0] != "metrics"]
    assert len(settings()) == len(BEFORE)
    assert rest == [pair for pair in BEFORE.items() if pair[0] != "metrics"], f"tapir now has {settings()}"


def other_files() -> None:
    """All other services, the blocks and the check, by digest."""
    total = hashlib.sha256()
    for path in sorted(FILE.parent.iterdir()):
        if path.name != FILE.name:
            total.update(os.fsencode(path.name) + b"\0" + content(str(path)))
    assert total.hexdigest() == OTHER_SERVICES, "another service was changed, added or removed"
    for name, digest in UNTOUCHED.items():
        assert digest_of(name) == digest, name


GOALS = (found, moved, noted)
KEPT = (other_settings, other_files)
