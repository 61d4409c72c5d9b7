"""Does the one wrong weight now say what the supplier says, and does everything else stay?"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

WRONG = 47
UNTOUCHED = {
    "validate.py": "5ce30220f452e243ada7af6b28f8abb1ca7ad31345256a7ef8c0713fe96b763e",
    "suppliers/alvor.csv": "c5bda9f19aecc7f9c9bbbe94c56e02dc261ab0d6b615d197ba6c1c2aed447561",
    "suppliers/benmark.csv": "889fd87e400bbb55e5d34d5085991567c1dd4350f0a949e2c340577f87f05fd6",
    "suppliers/corvida.csv": "c7a21ef5521b89d7168660a8f27e6480b624ca24832c041e5c98737d013c2410",
    "suppliers/nordal.csv": "fb1ec4de718c92b05b81af0fc6c1d6537f0d2797de6f905062b1c574b92868eb",
    "suppliers/ostara.csv": "0f1fe4d41d019ea72df326c3cbbce956701b6e51979cf834888a09c1e4ff9057",
}
OTHER_VALUES = "a6598fa30f2fe7d1444d319d203ca1d5baef390b138fbaadf2f426c2ce6f853f"
LIMIT = 1_000_000  # bytes that are read of any file


def content(name: str) -> bytes:
    """A regular file, at most so many bytes of it; empty if it cannot be read."""
    try:
        with Path(name if Path(name).is_file() else os.devnull).open("rb") as file:
            return file.read(LIMIT)
    except OSError:
        return b""


def catalog() -> dict[str, Any]:
    """The catalog as it is now."""
    return json.loads(content("catalog.json").decode("utf-8-sig"))


def weight() -> None:
    """The latest row of the sheet counts, as an integer."""
    found = json.dumps(catalog()["products"][WRONG]["weight_g"])
    assert found == "1205", f"the weight is {found}"


def other_values() -> None:
    """The catalog without the corrected weight, compared by digest."""
    values = catalog()
    del values["products"][WRONG]["weight_g"]
    assert hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest() == OTHER_VALUES


def other_files() -> None:
    """The check and the sheets."""
    for name, digest in UNTOUCHED.items():
        assert hashlib.sha256(content(name)).hexdigest() == digest, name


GOALS = (weight,)
KEPT = (other_values, other_files)
