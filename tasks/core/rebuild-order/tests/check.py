"""Judges rebuild.txt: half for the right packages with their versions, all if their order works too."""

import json
import os
from pathlib import Path

EXPECTED = json.loads((Path(__file__).parent / "expected.json").read_text(encoding="utf-8"))


def text_of(name: str) -> str:
    """A file of the solver's; empty if it is missing, a link, or no text of sensible size."""
    path = Path(name)
    try:
        here = path.is_file() and path.resolve() == Path.cwd().resolve() / name
        return path.read_bytes().decode("utf-8") if here and path.stat().st_size < 1_000_000 else ""
    except (OSError, ValueError) as error:
        print(f"{name}: {error}")
        return ""


def ordered(names: list[str]) -> bool:
    """Whether each package stands below those that it needs."""
    return all(names.index(other) < names.index(name) for name in names for other in EXPECTED["needs"][name])


def score() -> float:
    """The reward: 0, a half or 1."""
    changed = [name for name, text in EXPECTED["given"].items() if text_of(name) != text]
    rows = [line.split() for line in text_of("rebuild.txt").strip().splitlines()]
    right = sorted(rows) == sorted([name, version] for name, version in EXPECTED["versions"].items())
    good = right and ordered([row[0] for row in rows])
    print(f"{len(rows)} lines; packages and versions right: {right}; order works: {good}; changed: {changed[:5]}")
    return 0.0 if changed or not right else 1.0 if good else 0.5


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")
