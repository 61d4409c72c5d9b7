"""Numbers and findings in words. All forms of a report use these, so that they cannot disagree."""

from __future__ import annotations

from collections.abc import Mapping

from harness_eval.errors import redact
from harness_eval.types import Json

Figures = Mapping[str, Json]  # {"estimate", "low", "high"}: proportions, or None where unknown
UNKNOWN = "unknown"
NOT_EXERCISED = "not exercised"
SCRIPTED = "scripted, not a language model"
_READ = 5_000  # characters at either end of a text that are looked at


def percent(value: float | None) -> str:
    """A proportion as a percentage to one decimal place."""
    return UNKNOWN if value is None else f"{_decimal(value)} %"


def points(value: float | None, *, signed: bool = False) -> str:
    """A difference of proportions in percentage points to one decimal place."""
    return UNKNOWN if value is None else f"{_decimal(value, signed=signed)} pp"


def interval(figures: Figures, *, signed: bool = False) -> str:
    """The interval in brackets, in percent or points without a unit; "" where it is unknown, which is said once."""
    low, high = figures.get("low"), figures.get("high")
    if low is None or high is None:
        return ""
    return f"[{_decimal(low, signed=signed)}, {_decimal(high, signed=signed)}]"


def share(figures: Figures) -> str:
    """A proportion with its interval."""
    return f"{percent(figures.get('estimate'))} {interval(figures)}".rstrip()


def difference(figures: Figures, *, signed: bool = False) -> str:
    """A difference with its interval, in percentage points."""
    return f"{points(figures.get('estimate'), signed=signed)} {interval(figures, signed=signed)}".rstrip()


def p_value(value: float | None) -> str:
    """A p-value to two significant digits, or a bound when it is very small."""
    if value is None:
        return UNKNOWN
    return "< 0.001" if value < 0.001 else f"{value:.2g}" if value < 0.1 else f"{value:.2f}"


def count(number: int, noun: str) -> str:
    """`3 trials`, `1 trial`: the regular English plural, and that of `axis`."""
    plurals = {"y": "ies", "is": "es", "s": "ses"}
    ending = next((ending for ending in ("y", "is", "s") if noun.endswith(ending)), "")
    many = noun.removesuffix(ending) + plurals.get(ending, "s")
    return f"{number:,} {noun if number == 1 else many}"


def printable(text: object, keep: str = "") -> str:
    """The text with every control character but those of `keep`, line breaks included, turned into a space."""
    return "".join(character if character.isprintable() or character in keep else " " for character in str(text))


def one_line(text: object, length: int | None = None) -> str:
    """Any text from outside on one line, without control characters; cut in its middle to `length` characters."""
    line = " ".join(printable(text).split())
    if length is None or len(line) <= length:
        return line
    tail = (length - 1) // 2
    return f"{line[: length - 1 - tail]}…{line[-tail:]}"


def foreign(text: object, length: int) -> str:
    """Such a line without credentials; of an endless text only both ends are looked at."""
    whole = str(text)
    if len(whole) > 2 * _READ:
        whole = f"{whole[:_READ]} … {whole[-_READ:]}"
    return one_line(redact(whole), length)


def _decimal(value: float, *, signed: bool = False) -> str:
    text = f"{100 * value:+.1f}" if signed else f"{100 * value:.1f}"
    if text.lstrip("+-") == "0.0":
        return "0.0"
    return text.replace("-", "\N{MINUS SIGN}")
