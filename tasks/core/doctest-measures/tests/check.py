"""Tries other amounts than the examples do, and holds the public functions to their signatures and docstrings."""

import ast
import hashlib
import os
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

from solver import answers, copied
from workspace import content, digest_of

GIVEN = {
    "docs/recipes.md": "43ef3585afc15a93266559a121a8bc3dbe26ba1eeed7cf4fbc3a24a365a916a6",
    "kitchen/__init__.py": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
}
PROMISES = {
    "show": ["amount", "e470cfc1173f4e10576b6e4dc091113a88cad43a6716c19897aa246630991f09"],
    "parse": ["line", "8a378e7be1cd21b6037fd2a7a3dd9941783ad510a2bb87b7f927abab034316f9"],
    "down": ["amount, step=Fraction(1)", "73936529e3cd32f05d58cec8fd39e6a21e52bc213346b39d43d1ce1957fc3d68"],
    "scale": ["line, factor", "af10c6d240b4c6e2e5aef0e3eccca5d721f8709b28c5cca003dcf839cb053086"],
    "total": ["lines", "4f4535cfc6b4e19af9315fb5826543979f0518778d0f3a2451e7b8359b3eda34"],
}
CHANGED = "kitchen/measures.py"
PROBE = """
import json, sys
from fractions import Fraction
from kitchen import measures


def plain(value):
    if isinstance(value, Fraction):
        return ["fraction", value.numerator, value.denominator]
    return [plain(part) for part in value] if isinstance(value, (list, tuple)) else value


def real(value):
    return Fraction(*value[1:]) if isinstance(value, list) and value[:1] == ["fraction"] else value


results = []
for name, arguments in json.load(sys.stdin):
    try:
        results.append(plain(getattr(measures, name)(*map(real, arguments))))
    except Exception as error:
        results.append(repr(error))
print(json.dumps(results, default=repr))
"""
PLURALS = {"cup": "cups", "spoon": "spoons", "pinch": "pinches", "loaf": "loaves", "g": "g", "ml": "ml"}
AMOUNTS = [Fraction(top, bottom) for bottom in (1, 2, 3, 8) for top in range(-13, 14)]


def written(amount: Fraction) -> str:
    """The amount as cooks write it."""
    whole, rest = divmod(abs(amount), 1)
    return ("-" if amount < 0 else "") + (" ".join(str(part) for part in (whole, rest) if part) or "0")


def line(amount: Fraction, unit: str, item: str) -> str:
    """A whole line."""
    return f"{written(amount)} {unit if 0 < abs(amount) <= 1 else PLURALS[unit]} {item}"


def sent(value: Any) -> Any:
    """What stands for it in JSON."""
    return ["fraction", value.numerator, value.denominator] if isinstance(value, Fraction) else value


def cases() -> dict[str, list[tuple[list[Any], Any]]]:
    """By name of a function: arguments, and what it has to return."""
    steps, factors = [Fraction(1, 2), Fraction(3), Fraction(2, 3)], [Fraction(-1, 2), Fraction(0), Fraction(3, 4)]
    units = list(PLURALS)
    pairs = [(amount, units[at % len(units)]) for at, amount in enumerate(AMOUNTS)]
    sums = [(AMOUNTS[at], AMOUNTS[-at * 7 % len(AMOUNTS)]) for at in range(0, len(AMOUNTS), 5)]
    return {
        "show": [([sent(amount)], written(amount)) for amount in AMOUNTS],
        "parse": [([line(amount, unit, "old rice")], [sent(amount), unit, "old rice"]) for amount, unit in pairs],
        "down": [([sent(size), sent(step)], sent(floor(size / step) * step)) for size in AMOUNTS for step in steps]
        + [([sent(amount)], sent(Fraction(floor(amount)))) for amount in AMOUNTS],
        "scale": [
            ([line(amount, unit, "rice"), sent(factor)], line(amount * factor, unit, "rice"))
            for amount, unit in pairs
            for factor in factors
        ],
        "total": [
            (
                [[line(first, "cup", "tea"), line(first, "g", "tea"), line(second, "cup", "tea")]],
                [line(first + second, "cup", "tea"), line(first, "g", "tea")],
            )
            for first, second in sums
        ],
    }


def promises(text: str) -> dict[str, list[str]]:
    """Signature and docstring of each public function of a module."""
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            digest = hashlib.sha256(str(ast.get_docstring(node)).encode()).hexdigest()
            found[node.name] = [ast.unparse(node.args), digest]
    return found


def broken() -> list[str]:
    """What was to stay and did not."""
    wrong = [name for name, digest in GIVEN.items() if digest_of(name) != digest]
    for folder, names, files in os.walk("."):
        names[:] = [name for name in names if name != "__pycache__"]
        paths = (Path(folder, name).as_posix() for name in files)
        wrong += [path for path in paths if path not in GIVEN and path != CHANGED]
    try:
        kept = promises(content(CHANGED).decode("utf-8")) == PROMISES
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        kept = False
    return sorted(wrong) + ([] if kept else ["signatures or docstrings"])


def score() -> float:
    """Nothing while amounts are shown or read wrongly, half while only units are; and half where a rule is broken."""
    told = broken()
    asked = [(name, *case) for name, rows in cases().items() for case in rows]
    calls = [(name, arguments) for name, arguments, _ in asked]
    found = answers(PROBE, calls, copied(["kitchen/__init__.py", CHANGED]))
    if not isinstance(found, list) or len(found) != len(asked):
        print("the functions cannot be called")
        return 0.0
    failed = {name for (name, _, wanted), got in zip(asked, found, strict=True) if got != wanted}
    print(f"functions with wrong results: {sorted(failed)}; broken: {told[:20]!a}")
    if "down" in failed:
        return 0.0
    right = 1.0 if not failed else 0.5 if failed <= {"scale", "total"} else 0.0
    return right * (0.5 if told else 1.0)


REWARD = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
REWARD.write_text("0\n", encoding="utf-8")
REWARD.write_text(f"{score():.4f}\n", encoding="utf-8")
