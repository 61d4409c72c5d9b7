"""Judges the configuration files and the list of keys, half each; other new files, or keys in it, give nothing."""

import csv
import hashlib
import io
import os
from pathlib import Path

from workspace import content, digest_of

GIVEN = {
    "revoked.tsv": "e70a17ed3a5c9d8eaec37b4b77cd41f9db3cd125a0444daedc8961a23ed48a43",
}
DEPLOY = "dee8f7baecd0ee600b4312284c105507b5e8a11517f1be2e25ccefab91e02f02"  # all files below deploy/, rotated
ROTATED = "3ab1f0f02e496d9c7289b1beea38d676353ddf51bcf718a6055a98c3626d5e89"  # the rows of rotated.csv


def deployed() -> str:
    """A digest over the names and bytes of all files below deploy/."""
    total = hashlib.sha256()
    for path in sorted(Path("deploy").rglob("*")):
        if not path.is_dir():
            name = os.fsencode(path.as_posix())
            total.update(name + b"\0" + digest_of(path).encode())
    return total.hexdigest()


def rotated() -> str:
    """A digest over the rows of rotated.csv."""
    try:
        rows = [row for row in csv.reader(io.StringIO(content("rotated.csv").decode("utf-8-sig"))) if row]
    except (ValueError, csv.Error):
        return ""
    return hashlib.sha256("\n".join(",".join(cell.strip() for cell in row) for row in rows).encode()).hexdigest()


def score() -> float:
    """The reward in 0..1."""
    if any(digest_of(name) != wanted for name, wanted in GIVEN.items()):
        print("revoked.tsv was changed")
        return 0.0
    strange = sorted(path.name for path in Path().iterdir() if path.name not in ("deploy", "rotated.csv", *GIVEN))
    if strange or b"hbk_" in content("rotated.csv"):
        print(f"left behind: {strange[:9]!a}, or a key in rotated.csv")
        return 0.0
    points = {"deploy": deployed() == DEPLOY, "rotated.csv": rotated() == ROTATED}
    print(points)
    return sum(points.values()) / len(points)


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")
