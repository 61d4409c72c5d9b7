"""Keeping the values of a task's variables, which may be credentials of the host, out of what is told of a program."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping

from harness_eval.errors import LAST_WORDS, last_words

_LONG = 8  # characters from which on any value is hidden
_SHORT = 4  # the same where the name says that it is a secret
_SECRET_NAME = re.compile(r"(?i)KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH")
_HIDDEN = "[redacted]"


def told(output: str, *tables: Mapping[str, str], most: int = LAST_WORDS) -> str:
    """The end of what a program printed, at most so many characters, without the values of these variables."""
    return last_words(without_values(output, *tables), most)


def without_values(text: str, *tables: Mapping[str, str]) -> str:
    """The text without the values of these variables, as they are and in base64; very short ones stay."""
    hidden = {form for table in tables for name, value in table.items() for form in _forms(name, value)}
    for form in sorted(hidden, key=len, reverse=True):
        text = text.replace(form, _HIDDEN)
    return text


def _forms(name: str, value: str) -> Iterator[str]:
    if len(value) < (_SHORT if _SECRET_NAME.search(name) else _LONG):
        return
    yield value
    data = value.encode("utf-8", "surrogateescape")
    if len(data) >= _LONG:  # whole groups of three bytes, whatever follows, as the line's end of `echo`
        yield base64.b64encode(data[: len(data) // 3 * 3]).decode()
