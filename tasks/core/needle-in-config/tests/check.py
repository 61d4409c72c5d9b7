"""Was the one guilty job found and slowed down, and nothing else touched?"""

import configparser
import hashlib
import os
from pathlib import Path

from workspace import content, digest_of

FILE = Path("conf.d/43-delta-packages.ini")
BEFORE = """\
# Job 43. Owner: desk 3. Ask before changing the depth.
[job]
name = delta-packages
class = normal
retries = 6

[sync]
enabled = yes
source = mirror-07.internal
depth = 3
every = 15m
target = /srv/delta-packages
checksum = 2f0f66c8

[restore]
source = mirror-17.internal
every = 5400s
keep = 7 days

[report]
to = delta-packages@desk.example
subject = delta-packages: nightly summary
"""
OTHER_JOBS = "0a45afcb1a6d5105d8b402e8c262c9fd776be81126e0cd32cb78d87e177b06b7"
POLICY = "05271f3f9385a5b33daeb921afadc11b319e73691697a36100c6192421e79ae6"


def values(text: str) -> dict[str, dict[str, str]]:
    """What counts in a job file."""
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.read_string(text)
    return {section: dict(parser[section]) for section in parser.sections()}


def culprit() -> None:
    """The file names the job."""
    found = content("culprit.txt").decode("utf-8-sig").strip()
    assert found == "delta-packages", f"culprit.txt says {found[:60]!r}"


def interval() -> None:
    """The guilty job has the policy's interval and is otherwise what it was."""
    wanted = values(BEFORE)
    wanted["sync"]["every"] = "95m"
    found = values(content(str(FILE)).decode("utf-8"))
    assert found == wanted, f"the job now reads {found}"


def other_lines() -> None:
    """The other lines of the guilty job's file are still there, in order."""
    rest = iter(content(str(FILE)).decode("utf-8").splitlines())
    for line in BEFORE.splitlines():
        assert line == "every = 15m" or line in rest, f"lost: {line}"


def other_files() -> None:
    """All other job files and the policy, by digest."""
    total = hashlib.sha256()
    for path in sorted(FILE.parent.iterdir()):
        if path.name != FILE.name:
            total.update(os.fsencode(path.name) + b"\0" + content(str(path)))
    assert total.hexdigest() == OTHER_JOBS, "another job file was changed, added or removed"
    assert digest_of("policy.md") == POLICY, "the policy was changed"


GOALS = (culprit, interval)
KEPT = (other_lines, other_files)
