"""Does the machine make the two missing transitions, and is everything else as it was?"""

import hashlib
import os
from pathlib import Path
from typing import Any

from solver import answers, copied
from workspace import content, digest_of

GIVEN = {
    "walk.py": "173dda7f3ca355f03e35a958309dffb8f34d9a8b634a36e11ffe3041bf47d96c",
    "docs": "",
    "docs/TRANSITIONS.md": "91fcb7c8e4c95f18b1cde99d5b0f9bb4f947c598ac01110c3a5a0318d7e7a50d",
    "locker": "",
    "locker/__init__.py": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
}
REST = "7cea7e44f5ad266d748e6f2912e78242293de00c3dd83a9763e869408c97e262"
CHANGED, FORGOTTEN = "locker/machine.py", ("081", "089")
PROBE = """
import json, sys
from locker.machine import Locker, Refused
results = []
for state, event in json.load(sys.stdin):
    locker = Locker(state)
    locker.timer = "as before"
    try:
        locker.handle(event)
        results.append([locker.state, list(locker.done), locker.timer])
    except Refused:
        results.append("refused")
print(json.dumps(results))
"""


def others() -> list[str]:
    """What was changed, removed or added beside the machine."""
    found = {}
    for folder, names, files in os.walk("."):
        names[:] = [name for name in names if name != "__pycache__"]
        for path in (Path(folder, name) for name in names + files):
            plain_folder = path.is_dir() and not path.is_symlink()
            found[path.as_posix()] = "" if plain_folder else digest_of(path)
    found.pop(CHANGED, None)
    return sorted(name for name in {*found, *GIVEN} if found.get(name) != GIVEN.get(name))


def table() -> dict[str, tuple[list[str], Any]]:
    """By number of the row: state and event, and what has to come of it."""
    rows = {}
    for line in content("docs/TRANSITIONS.md").decode("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if len(cells) == 7 and cells[0].isdigit():
            number, state, event, status, following, actions, timer = cells
            outcome = [following, actions.split(", "), "as before" if timer == "keep" else timer]
            rows[number] = [state, event], outcome if status == "live" else "refused"
    return rows


def score() -> float:
    """Half for each missing transition; nothing if anything else was done."""
    touched = others()
    machine = content(CHANGED).decode("utf-8", "replace")
    tail = machine[machine.find("class Refused") :].strip()
    if touched or hashlib.sha256(tail.encode()).hexdigest() != REST:
        print(f"touched besides: {touched[:20]!a}; or the classes have changed")
        return 0.0
    rows = table()
    found = answers(PROBE, [pair for pair, _ in rows.values()], copied(["locker/__init__.py", CHANGED]))
    if not isinstance(found, list) or len(found) != len(rows):
        print("the machine cannot be tried")
        return 0.0
    wrong = {number for (number, (_, wanted)), got in zip(rows.items(), found, strict=True) if got != wanted}
    print(f"rows that are wrong: {sorted(wrong)}")
    return 0.0 if wrong - set(FORGOTTEN) else 1 - len(wrong) / len(FORGOTTEN)


REWARD = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
REWARD.write_text("0\n", encoding="utf-8")
REWARD.write_text(f"{score():.4f}\n", encoding="utf-8")
