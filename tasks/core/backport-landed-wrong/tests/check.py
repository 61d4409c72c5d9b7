"""Are the three functions what the patch makes of them, and is everything else as it was, to the byte?"""

import hashlib
import os
import re
from pathlib import Path
from typing import Any

from solver import answers, copied
from workspace import content, is_plain

GIVEN = {
    "patches/2231-boats.patch": "4bf4bcf658afcd24564ad0819970d422b2202c8f51f5a4711e8f09bec9a3ac77",
    "rental/__init__.py": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "rental/fees.py": "a8311e627c276c307f3e845af21ee4ff8ec9335a063ff2090f207435794fe00b",
    "rental/texts.py": "064cc2a6498058f9cd585a2fc5dae367c77f200e91b688265b7e51997839f369",
}  # digests of what has to stay
MEANT = {"rental/fees.py": ("boat_fee", "boat_deposit"), "rental/texts.py": ("boat_receipt",)}
PROBE = """
import json, sys
from rental import fees, texts
results = []
for module, name, given in json.load(sys.stdin):
    try:
        results.append(getattr(fees if module == "fees" else texts, name)(**given))
    except ValueError as error:
        results.append(str(error))
print(json.dumps(results, default=repr))
"""


def boat_fee(days: int, late: int = 0) -> int | str:
    """What a boat costs."""
    if days < 1:
        return "at least one day"
    fee = days * 3200
    fee -= fee // 10 if days >= 7 else 0
    counted = late - 1 if days >= 3 else late
    return fee + 900 * min(10, max(0, counted))


def boat_receipt(name: str, days: int, late: int = 0) -> str:
    """The receipt for a boat."""
    lines = [f"Boat {name}: {days} days"]
    if late:
        lines.append(f"{late} days late, one of them free" if days >= 3 else f"{late} days late")
    cents = boat_fee(days, late)
    assert isinstance(cents, int)
    return "\n".join([*lines, f"total {cents // 100}.{cents % 100:02d} EUR"])


def cases() -> dict[str, list[tuple[list[Any], Any]]]:
    """By name of a function: calls, and what they have to return."""
    periods = [(days, late) for days in (0, 1, 2, 3, 6, 7, 15) for late in (0, 1, 2, 9, 10, 11, 12, 40)]
    deposits = [3200 * number - (800 * (number - 3) if number > 3 else 0) for number in range(9)]
    return {
        "boat_fee": [
            (["fees", "boat_fee", {"days": days, "late": late}], boat_fee(days, late)) for days, late in periods
        ],
        "boat_deposit": [(["fees", "boat_deposit", {"number": at}], wanted) for at, wanted in enumerate(deposits)],
        "boat_receipt": [
            (["texts", "boat_receipt", {"name": "Vide", "days": days, "late": late}], boat_receipt("Vide", days, late))
            for days, late in periods
            if days
        ],
    }


def rest(name: str) -> str:
    """The file without the functions that are meant, as a digest."""
    parts = re.split(r"(?m)^(?=def )", content(name).decode("utf-8", "replace").rstrip() + "\n")
    kept = [part for part in parts if not part.startswith(tuple(f"def {meant}(" for meant in MEANT.get(name, ())))]
    return hashlib.sha256("\0".join(part.strip() for part in kept).encode()).hexdigest()


def broken() -> list[str]:
    """What was to stay and did not."""
    wrong = [name for name, digest in GIVEN.items() if not is_plain(name) or rest(name) != digest]
    for folder, names, files in os.walk("."):
        names[:] = [name for name in names if name != "__pycache__"]
        wrong += [path for path in (Path(folder, name).as_posix() for name in files) if path not in GIVEN]
    return sorted(wrong)


def score() -> float:
    """A third for each function; half of it where anything else was changed."""
    told = broken()
    asked = [(name, *case) for name, rows in cases().items() for case in rows]
    found = answers(PROBE, [call for _, call, _ in asked], copied(name for name in GIVEN if name.endswith(".py")))
    if not isinstance(found, list) or len(found) != len(asked):
        print("the functions cannot be called")
        return 0.0
    failed = {name for (name, _, wanted), got in zip(asked, found, strict=True) if got != wanted}
    print(f"functions with wrong results: {sorted(failed)}; changed besides: {told[:20]!a}")
    return (1 - len(failed) / len(cases())) * (0.5 if told else 1.0)


REWARD = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
REWARD.write_text("0\n", encoding="utf-8")
REWARD.write_text(f"{score():.4f}\n", encoding="utf-8")
