"""The report as plain text for a terminal: what matters, in at most some thirty lines an endpoint."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from harness_eval.report import findings
from harness_eval.report.content import sections_of
from harness_eval.report.wording import NOT_EXERCISED, count, one_line, p_value, percent
from harness_eval.types import Json

_LEVELS_SHOWN = 5
_SHARES_SHOWN = 3
_SHARE_SHOWN = 0.005  # below that a share is not worth a place on the line
_NOTES_SHOWN = 4
_UNSUPPORTED_SHOWN = 3
_NAME = 12
_WIDTH = 110


def summary_text(data: Mapping[str, Json]) -> str:
    """The headline, the top effects, what was lost, what was not run and the notes, from the content of report.json."""
    lines: list[str] = []
    for section in sections_of(data):
        lines += [*_headline(section, data), *_why(section), *_rest(section)]
    lines += _not_run(data)
    if data.get("by_endpoint"):
        lines += [f"note{'':8}{one_line(note)}" for note in data["remarks"][:_NOTES_SHOWN]]
    return "\n".join(lines) + "\n"


def _headline(section: Mapping[str, Json], data: Mapping[str, Json]) -> list[str]:
    trials = section["trials"]
    lines = [f"{one_line(data['name'])}: {findings.title(section)}", findings.trials_phrase(trials)]
    if section["incomplete"]:
        lines.append(findings.incomplete_phrase(trials))
    lines.append("")
    if not trials["judged"]:
        return [*lines, *findings.sentences(section, data)]
    lines += [
        f"{one.name:{_NAME}}{one.value:>10}  {one.interval:<16}  {one.meaning}"
        for one in findings.headlines(section, data)
    ]
    lines.append("")
    for sentence in findings.sentences(section, data):
        lines += textwrap.wrap(sentence, _WIDTH)
    return lines


def _why(section: Mapping[str, Json]) -> list[str]:
    if not section["axes"]:
        return []
    shares = [
        f"{one_line(one['axis'])} {findings.share_phrase(one)}"
        for one in section["shares"]
        if (one["share"] or 0) >= _SHARE_SHOWN
    ]
    if section["entangled_share"] is not None:
        shares.insert(0, f"axes that this design cannot tell apart {percent(section['entangled_share'])}")
    told = " · ".join(shares[:_SHARES_SHOWN]) or "no axis explains variance beyond noise"
    lines = ["", f"{'WHY':{_NAME}}{told}"]
    known = [row for row in section["axes"] if row["effect"] is not None]
    for row in known[:_LEVELS_SHOWN]:
        p = p_value(row["p_adjusted"])
        exposure = findings.exposure_phrase(row)
        lines.append(f"  {findings.level_name(row):<38}{findings.effect_phrase(row)}  Holm p {p}  exposed {exposure}")
    silent = sum(row["exposure"] == 0 for row in section["axes"])
    rest = max(0, len(section["axes"]) - silent - len(known[:_LEVELS_SHOWN]))
    if rest:
        lines.append(f"  {count(rest, 'other level')} in the report")
    if silent:
        lines.append(f"  {count(silent, 'level')} {NOT_EXERCISED}")
    return lines


def _rest(section: Mapping[str, Json]) -> list[str]:
    lines = [""]
    if any(entry["verdict"] for entry in section["harnesses"]):
        lines.append(f"{'VERDICTS':{_NAME}}{findings.verdict_counts(section)}")
    lines.append(f"{'LOST':{_NAME}}{findings.lost_phrase(section)}")
    notes = section["notes"]
    lines += [f"{'note':{_NAME}}{one_line(note)}" for note in notes[:_NOTES_SHOWN]]
    if len(notes) > _NOTES_SHOWN:
        lines.append(f"{'':{_NAME}}and {count(len(notes) - _NOTES_SHOWN, 'more note')} in the report")
    return lines


def _not_run(data: Mapping[str, Json]) -> list[str]:
    unsupported = data["unsupported"]
    if not unsupported:
        return []
    shown = [
        f"  {one_line(entry['harness'])}: {one_line(entry['reason'])}" for entry in unsupported[:_UNSUPPORTED_SHOWN]
    ]
    return [f"{'NOT RUN':{_NAME}}{findings.unsupported_phrase(data)}", *shown]
