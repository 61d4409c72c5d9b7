"""All or nothing: one constant put right, in one line, and not a byte of anything else changed."""

import os
import re
from pathlib import Path

from workspace import content, digest_of

GIVEN = {
    "run_checks.py": "58a84f4323f6c59031d566ce6edef22ed2d51562007e9a9fadeb0ce12e2c4b15",
    "units/SOURCES.md": "90a176a56f69d729ae43e73c81214be0b094d0b2732cc4a0cdd5f73bf0c2f7df",
    "units/__init__.py": "39e431ed091084499bf2a519fcee92b7b18742b3e89157daecf684c2fa62006b",
    "units/area.py": "016494e65e8b91e47e88d6c5771d1f9823a7f5ac803fcc385a4b21dc98acf002",
    "units/convert.py": "bfa4a13e0813f497bc96d7ab7ff8089300df2d273f54d3ad5619efbf1aa9f2a0",
    "units/length.py": "008b5d42afc37861ad471329e4d3b358f424e1eebeb5e7fc329912f37be9b407",
    "units/mass.py": "a55ae382634056ad3260e4316e4707d33e49b185c98fc962f53f7eba08f52a21",
}
CHANGED = "units/volume.py"
LINES = '''"""Measures of volume in litres."""

IN_LITRES = {
    "gill": 0.1420653125,
    "pint": 0.56826125,
    "quart": 1.1365225,
    "gallon": 4.54609,
    "peck": 9.09218,  # TODO: more digits?
    "bushel": 36.36872,
    "firkin": 40.91418,
    "kilderkin": 81.82962,
    "barrel": 163.65924,
    "hogshead": 245.48886,
}
'''.splitlines()
WRONG = LINES.index('    "firkin": 40.91418,')


def others() -> list[str]:
    """Files that were changed, removed or added, other than the one that has to change."""
    found = {
        path.as_posix(): "" if path.is_dir() else digest_of(path)
        for path in Path().rglob("*")
        if "__pycache__" not in path.parts
    }
    found.pop("units", None)
    found.pop(CHANGED, None)
    return sorted(name for name in {*found, *GIVEN} if found.get(name) != GIVEN.get(name))


def corrected() -> bool:
    """Whether the one line holds the right number, however many zeros end it, and all other lines are as before."""
    found = content(CHANGED).decode("utf-8").splitlines()
    if len(found) != len(LINES):
        return False
    differing = [at for at, line in enumerate(found) if line != LINES[at]]
    return differing == [WRONG] and bool(re.fullmatch(r'    "firkin": 40\.914810*,', found[WRONG]))


def score() -> float:
    """The reward, 0 or 1."""
    try:
        right, touched = corrected(), others()
    except (OSError, ValueError) as error:
        print(f"files are gone or spoiled: {error!a}")
        return 0.0
    print(f"corrected: {right}; touched besides: {touched[:20]!a}")
    return 1.0 if right and not touched else 0.0


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")
