"""The values of a table, each read strictly: what could be meant in two ways is refused with the place it stands at."""

from __future__ import annotations

import math
import re

from harness_eval.errors import ConfigError
from harness_eval.report.wording import one_line
from harness_eval.types import Json

_TRUE, _FALSE = {"true", "yes", "y", "1", "pass", "passed"}, {"false", "no", "n", "0", "fail", "failed"}
LARGEST = 1e15  # of anything that is counted or paid
_PERCENT = re.compile(r"^[-+\d.,\s]+%$")


def whole(value: Json, where: str) -> int:
    """A count: a whole number that is not negative.

    Raises:
        ConfigError: it is none.
    """
    number = amount(value, where)
    if number != int(number):
        raise ConfigError(f"{where}: {shown(value)} is a fraction; a whole number of trials is needed")
    return int(number)


def proportion(value: Json, where: str) -> float:
    """A score in 0..1; true and false are 1 and 0.

    Raises:
        ConfigError: it is none.
    """
    if isinstance(value, bool) or (isinstance(value, str) and value.strip().lower() in (_TRUE | _FALSE) - {"0", "1"}):
        return float(truth(value, where))
    number = amount(value, where)
    if number > 1:
        raise ConfigError(f"{where}: {shown(value)} is above 1; a score lies in 0..1")
    return number


def truth(value: Json, where: str) -> bool:
    """Yes or no.

    Raises:
        ConfigError: it is neither.
    """
    text = str(value).strip().lower().removesuffix(".0")
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise ConfigError(f"{where}: {shown(value)} is neither true nor false; write 1 or 0")


def amount(value: Json, where: str) -> float:
    """A finite number that is not negative.

    Raises:
        ConfigError: it is none.
    """
    if blank(value):
        raise ConfigError(f"{where}: is empty; a number is needed")
    text = str(value).strip()
    if _PERCENT.match(text):
        raise ConfigError(f"{where}: {shown(value)} is a percentage; counts of trials are needed, not shares of them")
    try:
        number = float(text.replace("_", "x"))  # Python's own way to write numbers is nobody else's
    except ValueError:
        raise ConfigError(f"{where}: {shown(value)} is no number") from None
    if isinstance(value, bool) or not math.isfinite(number):
        raise ConfigError(f"{where}: {shown(value)} is no number")
    if number < 0:
        raise ConfigError(f"{where}: {shown(value)} is negative")
    if number > LARGEST:
        raise ConfigError(f"{where}: {shown(value)} is too large to have been counted")
    return number


def blank(value: Json) -> bool:
    """Whether a cell holds nothing; what is not a number in a column of numbers is nothing too."""
    missing = isinstance(value, float) and math.isnan(value)
    return value is None or missing or (isinstance(value, str) and not value.strip())


def shown(value: Json) -> str:
    """A value as a message quotes it."""
    return repr(one_line(value, 40))
