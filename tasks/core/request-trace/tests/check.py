"""Judges trace.json: a quarter for each right key; keys that nobody asked for, or changed logs, cost half."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

EXPECTED = json.loads((Path(__file__).parent / "expected.json").read_text(encoding="utf-8"))


def text_of(name: str) -> str:
    """A file of the solver's in the working directory; empty if it is missing, a link, or no text of sensible size."""
    path = Path(name)
    try:
        here = path.is_file() and path.resolve() == Path.cwd().resolve() / name
        return path.read_bytes().decode("utf-8") if here and path.stat().st_size < 1_000_000 else ""
    except (OSError, ValueError) as error:
        print(f"{name}: {error}")
        return ""


def same(found: Any, wanted: Any) -> bool:
    """Whether both are the same JSON; true is no 1."""
    return json.dumps(found, sort_keys=True) == json.dumps(wanted, sort_keys=True)


def logs() -> str:
    """A digest over the names and texts of all logs."""
    names = sorted(path.as_posix() for path in Path("logs").rglob("*") if not path.is_dir())
    whole = "".join(f"{name} {hashlib.sha256(text_of(name).encode()).hexdigest()}\n" for name in names)
    return hashlib.sha256(whole.encode("utf-8", "surrogateescape")).hexdigest()


def score() -> float:
    """The reward in 0..1."""
    try:
        answer = json.loads(text_of("trace.json") or "null")
    except (ValueError, RecursionError) as error:
        print(f"trace.json is no JSON: {error}")
        return 0.0
    if not isinstance(answer, dict):
        print("trace.json is missing or no object")
        return 0.0
    wanted, kept = EXPECTED["answer"], logs() == EXPECTED["logs"]
    right = [key for key, value in wanted.items() if same(answer.get(key), value)]
    print(f"right: {right}; keys found: {sorted(answer)[:9]!a}; logs as they were: {kept}")
    return len(right) / len(wanted) * (1.0 if kept and answer.keys() <= wanted.keys() else 0.5)


try:
    reward = score()
except OSError as error:
    print(f"cannot be judged: {type(error).__name__}")
    reward = 0.0
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")
