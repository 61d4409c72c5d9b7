"""One tool result as a model reads it: what frames it is taken off, and what it says of itself is kept."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from harness_eval.reference.surroundings import output_in, without_reminders

_OUTPUT_KEYS = ("output", "result", "content", "stdout", "text")
_FRAME_KEYS = frozenset({*_OUTPUT_KEYS, "tool", "name", "failed", "error", "ok", "status", "exit_code", "returncode"})
_ENVELOPE = re.compile(
    r"<(?P<tag>[\w-]*(?:result|response|output|observation)[\w-]*)(?P<attributes>[^>\n]*)>\n?(?P<inner>.*?)\n?</(?P=tag)>",
    re.DOTALL | re.IGNORECASE,
)
_HEADING = re.compile(r"(?P<word>Result|Error|Output|Observation)(?: of [^\n]{1,80})?:\n", re.IGNORECASE)
_EXIT_CODE = re.compile(r"exit(?:ed with)? (?:code|status)[:=]? [1-9]|timed out", re.IGNORECASE)
_TROUBLE = re.compile(
    r"\b(?:error|invalid|fail(?:ed|s|ure)?|no such|not found|(?:does|did|do) not|cannot|could not|can't|denied|unknown"
    r"|missing|must (?:be|occur)|refused|(?:un|not )available|starts? with|only \d+ lines)\b|\boccurs? \d+ times",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\W*(?:(?:tool )?error\b|invalid (?:call|tool|argument|parameter)|unknown (?:tool|parameter|function)"
    r"|no (?:such )?tool|(?:there is|it has) no tool|missing (?:required )?(?:parameter|argument)|the (?:tool|call) )",
    re.IGNORECASE,
)
_ABOUT_CALLS = re.compile(r"\b(?:tool|parameter|argument|call)s?\b", re.IGNORECASE)
_RENAMED = re.compile(
    r"parameter ['\"`](?P<old>\w+)['\"`][^\n]*?\b(?:as|use|instead|mean|called)\b[^\n'\"`]*['\"`](?P<new>\w+)['\"`]"
)
_CUT = re.compile(
    r"[\[<(][^\]>)\n]*\b(?:truncated|left out|omitted|clipped|elided|not shown)\b[^\]>)\n]*[\]>)]", re.IGNORECASE
)
_NUMBER = re.compile(r" *\d+(?:\t|: ?)")
_SHORT = 600  # characters; a refusal is a sentence or a list of tools, no output


@dataclass(frozen=True, slots=True)
class Result:
    """The text of a result without its frame, and whether the frame calls it failed (None: it does not say)."""

    text: str
    failed: bool | None = None

    @property
    def refused(self) -> bool:
        """Whether the call itself went wrong, so that whatever it should have run did not run."""
        first_line = self.text.lstrip().partition("\n")[0]
        if len(self.text) > _SHORT and not _ABOUT_CALLS.search(first_line):
            return False
        if self.failed is False or _EXIT_CODE.search(self.text):
            return False
        return bool(self.failed or _REFUSAL.match(first_line))

    @property
    def renamed(self) -> tuple[str, str] | None:
        """A parameter's name and the one that should have been used instead, where a refusal says so."""
        match = _RENAMED.search(self.text) if self.refused else None
        return (match["old"], match["new"]) if match else None

    @property
    def in_trouble(self) -> bool:
        """Whether a call that should have changed something says that it did not."""
        if self.failed is not None:
            return self.failed
        return bool(_TROUBLE.search(self.text[:_SHORT]) or _EXIT_CODE.search(self.text[-_SHORT:]))

    @property
    def cut(self) -> bool:
        """Whether a notice in it says that some of it is not shown."""
        return bool(_CUT.search(self.text))

    @property
    def lines(self) -> str:
        """The text without line numbers, where every line is numbered."""
        lines = self.text.split("\n")
        if all(_NUMBER.match(line) for line in lines):
            return "\n".join(_NUMBER.sub("", line, count=1) for line in lines)
        return self.text


def unframed(text: str) -> Result:
    """A result as it stands in a message, whether bare, under a heading, in an element or in a JSON record."""
    text = without_reminders(text)
    return _record(text) or _envelope(text) or _headed(text) or _among_fields(text) or Result(text)


def _record(text: str) -> Result | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        record = json.loads(text)
    except ValueError:
        return None
    if not isinstance(record, dict) or not _FRAME_KEYS.issuperset(record) or len(record) < 2:
        return None
    output = next((record[key] for key in _OUTPUT_KEYS if isinstance(record.get(key), str)), None)
    if output is None:
        return None
    failed = record.get("failed", record.get("error"))
    return Result(output, bool(failed) if failed is not None else None)


def _envelope(text: str) -> Result | None:
    match = _ENVELOPE.fullmatch(text.strip())
    if not match:
        return None
    said = match["attributes"].lower()
    failed = True if re.search(r"error|fail", said) else False if re.search(r"\bok\b|success", said) else None
    return Result(match["inner"], failed)


def _headed(text: str) -> Result | None:
    match = _HEADING.match(text)
    if not match:
        return None
    word = match["word"].lower()
    return Result(text[match.end() :], {"error": True, "result": False}.get(word))


def _among_fields(text: str) -> Result | None:
    found = output_in(text)
    return Result(*found) if found else None
