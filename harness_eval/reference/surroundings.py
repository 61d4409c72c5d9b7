"""What real harnesses put around their words and results, and where they say that the work is done."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from harness_eval.reference.offers import Offer

_CALLS_SHOWN = re.compile(r"^Calling tools:$", re.MULTILINE)
_REMINDER = re.compile(r"\s*<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_FOLDER = re.compile(
    r"\b(?:working[ _-]directory|working[ _-]dir|workdir|cwd|project root|workspace root)\b[^/\n]{0,40}?"
    r"(?P<folder>/[^\s<>\"'`*,;:()]*)",
    re.IGNORECASE,
)
_OUTPUT = re.compile(  # fields of one line each, the output, fields again
    r"(?:[A-Z][\w ]{2,40}(?:: ?[^\n]*)?\n|Command: .*?\nDirectory: [^\n]*\n)*?"
    r"(?:Output|Stdout):[ \n](?P<inner>.*?)"
    r"(?P<after>\n(?:Error|Exit Code|Signal|Process Group PGID|Background PIDs): ?[^\n]*)*\s*",
    re.DOTALL,
)
_FIELDS = re.compile(r"(?:Command: |Chunk ID: |Wall time: |Exit code: |Process exited )")
_CODE = re.compile(r"(?:Exit Code|Exit code|exited with code):? (?P<code>-?\d+)")


def without_reminders(text: str) -> str:
    """A text without what a harness whispers into it between tags of its own."""
    return _REMINDER.sub("\n", text).strip("\n") if "<system-reminder>" in text else text


def shows_calls(text: str) -> bool:
    """Whether an own message is shown with its calls written out as text."""
    return bool(_CALLS_SHOWN.search(text))


def output_in(text: str) -> tuple[str, bool] | None:
    """The output among the fields that describe how a command ran, and whether it failed; None for other texts."""
    if not _FIELDS.match(text) or not (match := _OUTPUT.fullmatch(text)):
        return None
    code = _CODE.search(text[: match.start("inner")] + text[match.end("inner") :])
    return match["inner"], bool(code and code["code"] != "0")


def folder_named(texts: Iterable[str]) -> str:
    """The folder that one of these texts calls the working directory, or ""."""
    return next((match["folder"].rstrip("/.") for text in texts if (match := _FOLDER.search(text))), "")


def from_root(offer: Offer, arguments: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """The arguments with relative paths made absolute, for parameters that say that they must be."""
    wants = {p.name for p in offer.parameters if _absolute(p.description)}
    return {
        name: f"{folder}/{value}" if name in wants and isinstance(value, str) and not value.startswith("/") else value
        for name, value in arguments.items()
    }


def _absolute(description: str) -> bool:
    said = description.lower()
    return "absolute" in said and "or relative" not in said and "path" in said
