"""Changes of harnesses as Markdown for a pull request: one sentence, a table, and diffs to unfold."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from harness_eval.errors import redact
from harness_eval.report.markdown import MOST_CHARACTERS
from harness_eval.report.templating import name
from harness_eval.report.wording import count, one_line, printable
from harness_eval.types import Json

_LINE = 1_000  # characters of one line of a diff
_MORE = 20  # by which a line may grow where something in it is redacted
_HASH = 12  # digits that are shown of a hash
# Characters of each diff and rows of each table, tried in turn until all fits.
_SIZES = (
    (48_000, 400),
    (24_000, 200),
    (12_000, 100),
    (6_000, 50),
    (3_000, 50),
    (1_000, 40),
    (300, 20),
    (0, 20),
    (0, 5),
)
_UNVERSIONED = "changed without a new version"


def markdown(data: Mapping[str, Json]) -> str:
    """What `harness diff` or `harness lock` print as JSON, as GitHub-flavoured Markdown that fits a comment."""
    form = _changes if "changes" in data else _difference
    texts = (form(data, room, rows) for room, rows in _SIZES)
    return next(text for text in texts if len(text) < MOST_CHARACTERS)


def _difference(data: Mapping[str, Json], room: int, rows: int) -> str:
    before, after = data["before"], data["after"]
    others = [part for part, lines in data["lines"].items() if lines and part != "axes"]
    named = f"{name(before['harness'])} → {name(after['harness'])}"
    if not data["differ"] and not others:
        return f"**{named}: the same harness.** {_identities(before, after)}\n"
    received = f"what models receive differs in {_series(others)}" if others else "what models receive is the same"
    axes = count(len(data["differ"]), "axis") + (" differs" if len(data["differ"]) == 1 else " differ")
    parts = [f"**{named}: {axes}; {received}.** {_raised(before, after)}"]
    if data["differ"]:
        told = [(name(each["axis"]), name(each["first"]), _level(each)) for each in data["differ"][:rows]]
        parts.append(_table(("axis", "before", "after"), told, len(data["differ"])))
    parts += _unfolded([(part, data["lines"][part]) for part in others], room)
    return "\n\n".join([*parts, _identities(before, after)]) + "\n"


def _level(each: Mapping[str, Json]) -> str:
    same = each["first"] == each["second"]
    return name(each["second"]) + (", other parameters" if same else "")


def _raised(before: Mapping[str, Json], after: Mapping[str, Json]) -> str:
    if before["version"] != after["version"]:
        return f"The version is another: {name(before['version'])} → {name(after['version'])}."
    if before["wire"] != after["wire"] and before["harness"] == after["harness"]:
        return f"**The version was not raised**: both are {name(after['version'])}."
    return f"The version is {name(after['version'])} in both."


def _identities(before: Mapping[str, Json], after: Mapping[str, Json]) -> str:
    told = [
        f"version {name(one['version'])}, id {name(one['id'])}, hash of what models receive {name(one['wire'])}"
        for one in (before, after)
    ]
    return f"Before: {told[0]}. After: {told[1]}."


def _changes(data: Mapping[str, Json], room: int, rows: int) -> str:
    changes: Sequence[Mapping[str, Json]] = sorted(data["changes"], key=lambda each: each["change"] != _UNVERSIONED)
    since = f"since {name(data['base'])}" if data.get("base") else f"compared with {name(data['lock'])}"
    looked = f"{count(data['harnesses'], 'harness')} {since}"
    if not changes:
        return f"**What models receive has not changed**: {looked}.\n"
    kinds = Counter(each["change"] for each in changes)
    bad = kinds.get(_UNVERSIONED, 0)
    told = "; ".join(f"{number} {kind}" for kind, number in kinds.items())
    parts = [f"**{count(len(changes), 'harness')} changed**: {told} ({looked})."]
    if bad:
        parts[0] += " Raise `version` in the files of those that changed without a new one, and lock them anew."
    columns = ("harness", "", "version", "what models receive", "lines")
    parts.append(_table(columns, [_row(each) for each in changes[:rows]], len(changes)))
    unfold = [(each["harness"], each["lines"]) for each in changes if each["lines"]]
    parts += _unfolded(unfold[:rows], room)
    if len(unfold) > rows:
        parts.append(f"Cut here: the diffs of {count(len(unfold) - rows, 'harness')} more.")
    return "\n\n".join(parts) + "\n"


def _row(each: Mapping[str, Json]) -> tuple[str, ...]:
    kind = f"**{each['change']}**" if each["change"] == _UNVERSIONED else each["change"]
    more = sum(line.startswith("+") and not line.startswith("+++") for line in each["lines"])
    less = sum(line.startswith("-") and not line.startswith("---") for line in each["lines"])
    lines = f"+{more} −{less}" if each["lines"] else ""
    return name(each["harness"]), kind, _moved(each, "version"), _moved(each, "wire"), lines


def _moved(each: Mapping[str, Json], key: str) -> str:
    sides = [name(one_line(side[key])[:_HASH]) for side in (each["before"], each["after"]) if side]
    return " → ".join(dict.fromkeys(sides))


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], of: int) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return text if of == len(rows) else f"{text}\n\nCut here: {of - len(rows)} of {of} rows."


def _unfolded(diffs: Sequence[tuple[str, Sequence[str]]], room: int) -> list[str]:
    """Each diff to unfold; where not all fits in `room` characters, the long ones are cut to the same length."""
    sizes = [sum(min(len(line), _LINE) + _MORE for line in lines) for _, lines in diffs]
    rooms = [0] * len(diffs)
    for done, place in enumerate(sorted(range(len(diffs)), key=sizes.__getitem__)):
        rooms[place] = min(sizes[place], room // (len(diffs) - done))
        room -= rooms[place]
    return [_details(title, lines, most) for (title, lines), most in zip(diffs, rooms, strict=True)]


def _details(title: str, lines: Sequence[str], room: int) -> str:
    shown: list[str] = []
    for line in lines:
        text = printable(redact(line[:_LINE]), keep="\t") + "…" * (len(line) > _LINE)
        room -= len(text) + 1
        if room < 0:
            break
        shown.append(text)
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", "\n".join(shown))), default=0))
    body = "\n".join([f"{ticks}diff", *shown, ticks]) if shown else ""
    left = len(lines) - len(shown)
    cut = f"Cut here: {count(left, 'line')} of this diff; the command without `--markdown` shows all."
    inner = "\n\n".join([body] * bool(shown) + [cut] * bool(left))
    summary = html.escape(one_line(title, 120))
    return f"<details><summary>{summary}</summary>\n\n{inner}\n\n</details>"


def _series(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
