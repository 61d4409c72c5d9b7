"""Judges the parts, the joined minutes and the list of repairs, a third each; other changes give nothing."""

import hashlib
import os
from pathlib import Path

from workspace import content

GIVEN = {
    "join.py": "9039b3f15c9831c5d981a67eb43e0c15dffa9316b531151171c26291e5befde2",
    "manifest.tsv": "de3428db4b30154307e56397a83dcfba40f5034ece5be958f0821b1c37ab1188",
}
SPARES = "6150374738c5e8b8b89fe5169658fd6d57f39b6db7b70c27af567bb7f27306b3"
UNDAMAGED = "f4bf28e4103317a2b0a430aa97f3a6483020f93405f9b604c5d12e808743be15"  # the other parts
DAMAGED = {"m-0110": "spares/cellar/01.bin", "m-0309": "spares/press/07.bin"}


def digest(data: bytes) -> str:
    """The data's SHA-256 in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def digest_below(folder: str, without: frozenset[str] = frozenset()) -> str:
    """A digest over the names and bytes of all files below a folder."""
    total = hashlib.sha256()
    for path in sorted(Path(folder).rglob("*")):
        if path.name not in without and not path.is_dir():
            total.update(os.fsencode(path.as_posix()) + b"\0" + digest(content(str(path))).encode())
    return total.hexdigest()


def score() -> float:
    """The reward in 0..1."""
    kept = {
        "files": all(digest(content(name)) == wanted for name, wanted in GIVEN.items()),
        "spares": digest_below("spares") == SPARES,
        "other parts": digest_below("parts", frozenset(DAMAGED)) == UNDAMAGED,
    }
    if not all(kept.values()):
        print(f"as they were: {kept}")
        return 0.0
    rows = [line.split("\t") for line in content("manifest.tsv").decode().splitlines()]
    parts = [content(f"parts/{name}") for name, _, _ in rows]
    minutes = hashlib.sha256()
    for name, _, _ in rows:
        minutes.update(content(DAMAGED.get(name, f"parts/{name}")))
    lines = [line.split() for line in content("repairs.txt").splitlines() if line.strip()]
    points = {
        "parts": all(digest(part) == row[2] for part, row in zip(parts, rows, strict=True)),
        "minutes": digest(content("minutes.txt")) == minutes.hexdigest(),
        "repairs": lines == [[name.encode(), spare.encode()] for name, spare in sorted(DAMAGED.items())],
    }
    print(points)
    return sum(points.values()) / len(points)


REWARD = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
REWARD.write_text("0\n", encoding="utf-8")
try:
    REWARD.write_text(f"{score():.4f}\n", encoding="utf-8")
except OSError as error:
    print(f"a folder cannot be looked through: {type(error).__name__}")
