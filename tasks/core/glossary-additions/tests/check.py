"""Judges the glossary by its bytes and the list of what was added, half each; anything else changed gives nothing."""

import hashlib
import os
from pathlib import Path

from workspace import content

GIVEN = {
    "additions/editors.tsv": "41562ba0a3e2bd25d57f74a105e4c3408703b450d08c931401cdc9bfc678b25c",
    "additions/harbour.tsv": "d62361eb9defbe687b223b494c03c73a170962c3fb3929d8b3bf216fa48c3b2f",
    "additions/legal.tsv": "d85625c885fc145c8da684e3073f98c63baf296097098fd76cd308020245fbd7",
}
GLOSSARY = "24fcd8364cfeb1f2a5f3c2296bcad89b44b5e01c45b19ef67c263ee61317a962"
ADDED = "dcd5a68ea51d5c8ae3a2de4177aa2fcc8961f554e6b27128744217eaf8491b8b"


def digest(data: bytes) -> str:
    """The data's SHA-256 in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def score() -> float:
    """The reward in 0..1."""
    found = {path.as_posix() for path in Path().rglob("*")}
    strange = found - {*GIVEN, "additions", "glossary.txt", "added.txt"}
    changed = [name for name, wanted in GIVEN.items() if digest(content(name)) != wanted]
    lines = [b" ".join(line.split()) for line in content("added.txt").splitlines() if line.strip()]
    points = {
        "glossary": digest(content("glossary.txt")) == GLOSSARY,
        "added": digest(b"\n".join(lines)) == ADDED,
    }
    print(f"right: {points}; left behind: {sorted(strange)[:9]!a}; changed: {changed}")
    return 0.0 if strange or changed else sum(points.values()) / len(points)


REWARD = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
REWARD.write_text("0\n", encoding="utf-8")
try:
    REWARD.write_text(f"{score():.4f}\n", encoding="utf-8")
except OSError as error:
    print(f"a folder cannot be looked through: {type(error).__name__}")
