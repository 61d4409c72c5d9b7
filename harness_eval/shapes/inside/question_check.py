"""Is the answer in the answer file right? What is asked for stands in expected.json beside this program.

Before anything is compared, an answer is brought to Unicode's form NFC, runs of white space become one blank, and those
at both ends go. What each checker accepts:

- exact: the expected text, or one of several; capitals count unless `ignore_case`.
- number: a decimal number (1,234.5 and 1e3 too) within `tolerance`, or within `relative_tolerance` of the expected one.
- choice: the letter of the right choice (B, b, (B), B.) or its text.
- regex: what the pattern matches from end to end.
- set: the expected items in any order, one a line, or separated by `separator`; each once or more often.
- program: what program.py says, called with the answer file and expected.json: a score in 0..1 on its last line.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unicodedata
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

LARGEST = 1_000_000  # bytes of an answer
PATIENCE = 20  # seconds for a pattern
_NUMBER = re.compile(r"[-+]?(\d{1,3}(,\d{3})+|\d+)?(\.\d*)?([eE][-+]?\d{1,3})?")
_LETTER = re.compile(r"\(?([A-Za-z])[).:]?")


def tidy(text: str, ignore_case: bool = False) -> str:
    """The text in form NFC, with single blanks and none at the ends."""
    text = " ".join(unicodedata.normalize("NFC", text).split())
    return text.casefold() if ignore_case else text


def number_in(text: str) -> Decimal | None:
    """The number that the whole text is, or None."""
    text = text.strip().replace("\N{MINUS SIGN}", "-")
    if not _NUMBER.fullmatch(text):
        return None
    try:
        return Decimal(text.replace(",", ""))
    except InvalidOperation:
        return None


def items_of(text: str, expected: dict[str, Any]) -> set[str]:
    """The items of a set, tidied, without empty ones."""
    parts = text.split(expected.get("separator") or "\n")
    tidied = [tidy(part, expected.get("ignore_case", False)) for part in parts]
    return {part for part in tidied if part}


def accepts(answer: str, expected: dict[str, Any]) -> bool:
    """Whether the checker (any but `program`) accepts an answer."""
    return {"exact": _exact, "number": _number, "choice": _choice, "regex": _regex, "set": _set}[expected["checker"]](
        answer, expected
    )


def _exact(answer: str, expected: dict[str, Any]) -> bool:
    ignore = expected.get("ignore_case", False)
    return tidy(answer, ignore) in {tidy(each, ignore) for each in expected["answers"]}


def _number(answer: str, expected: dict[str, Any]) -> bool:
    given = number_in(answer)
    if given is None:
        return False
    for each in expected["answers"]:
        right = number_in(each)
        if right is None:
            continue
        relative = Decimal(str(expected.get("relative_tolerance", 0))) * abs(right)
        if abs(given - right) <= max(Decimal(str(expected.get("tolerance", 0))), relative):
            return True
    return False


def _choice(answer: str, expected: dict[str, Any]) -> bool:
    letter, wanted = _LETTER.fullmatch(answer.strip()), str(expected["letter"])
    if letter:
        return letter[1].upper() == wanted
    right = tidy(expected["choices"][ord(wanted) - ord("A")], True)
    return bool(right) and tidy(answer, True) == right


def _regex(answer: str, expected: dict[str, Any]) -> bool:
    return any(re.fullmatch(each, tidy(answer)) is not None for each in expected["answers"])


def _set(answer: str, expected: dict[str, Any]) -> bool:
    ignore = expected.get("ignore_case", False)
    return items_of(answer, expected) == {tidy(each, ignore) for each in expected["answers"]}


def read_answer(name: str) -> bytes | None:
    """The bytes of the answer file, if it is a regular one of a reasonable size within the working directory.

    A link to the outside could borrow the expected answer, which lies in the verifier's own folder.
    """
    place = Path.cwd().resolve()
    path = Path(os.path.realpath(place / name))
    if place not in path.parents:
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        state = os.fstat(descriptor)
        usable = stat.S_ISREG(state.st_mode) and state.st_size <= LARGEST and state.st_nlink == 1
        return os.read(descriptor, LARGEST) if usable else None
    finally:
        os.close(descriptor)


def program_score(answer: bytes, here: Path) -> float:
    """What the data set's own program says of an answer; it is given a copy, and a plain file."""
    place = Path(tempfile.mkdtemp())
    (place / "answer").write_bytes(answer)
    command = [sys.executable, "-I", str(here / "program.py"), str(place / "answer"), str(here / "expected.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=str(place))
    shutil.rmtree(place, ignore_errors=True)
    print(done.stderr[-1000:])
    return float(done.stdout.split()[-1])


def score(here: Path) -> float:
    """The score of what is in the working directory."""
    expected = json.loads((here / "expected.json").read_text(encoding="utf-8"))
    found = read_answer(expected["answer_file"])
    if found is None:
        print(f"there is no answer in {expected['answer_file']}")
        return 0.0
    if expected["checker"] == "program":
        return program_score(found, here)
    try:
        answer = found.decode("utf-8-sig")
    except UnicodeDecodeError:
        print("the answer is no text in UTF-8")
        return 0.0
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(PATIENCE)
    try:
        right = accepts(answer, expected)
    except TimeoutError:
        right = False
    signal.alarm(0)
    print("right" if right else "wrong")
    return 1.0 if right else 0.0


def _too_long(*_: object) -> None:
    raise TimeoutError


if __name__ == "__main__":
    result = score(Path(__file__).resolve().parent)
    out = Path(os.environ.get("VERIFIER_DIR") or "/logs/verifier")
    (out / "reward.txt").write_text(f"{result:g}\n", encoding="utf-8")
