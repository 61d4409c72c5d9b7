"""The report as plain text for a terminal: what matters, in at most some forty lines an endpoint."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from harness_eval.report import diagnosis_words as diagnosis
from harness_eval.report import effect_words, findings, traced_words
from harness_eval.report.columns import NAME, WIDTH, cut, inert, wrapped
from harness_eval.report.content import sections_of
from harness_eval.report.why import NEVER_ACTED
from harness_eval.report.wording import NOT_EXERCISED, count, one_line, p_value, percent
from harness_eval.types import Json

_LEVELS_SHOWN = 5
_SHARES_SHOWN = 3
_SHARE_SHOWN = 0.005  # below that a share is not worth a place on the line
_NOTES_SHOWN = 4
_UNSUPPORTED_SHOWN = 3
_LABELS_SHOWN = 4


def summary_text(data: Mapping[str, Json], run: str = "RUN") -> str:
    """The headline, the top effects, who must act, how the endpoint served, what cannot run and the notes.

    `run` is the run's folder as a command line names it.
    """
    lines: list[str] = []
    for section in sections_of(data):
        lines += [
            *_headline(section, data),
            *_why(section),
            *traced_words.terminal_lines(section, run),
            *_whose(section),
            *_rest(section),
            *_not_run(section, data),
        ]
    if data.get("by_endpoint"):
        lines += [f"note{'':8}{one_line(note)}" for note in data["remarks"][:_NOTES_SHOWN]]
    return inert("\n".join(lines) + "\n")


def _headline(section: Mapping[str, Json], data: Mapping[str, Json]) -> list[str]:
    trials = section["trials"]
    lines = [
        f"{one_line(data['name'])}: {findings.title(section)}",
        f"{findings.trials_phrase(trials)}, {findings.size_phrase(section)}",
    ]
    if section["incomplete"]:
        lines.append(findings.incomplete_phrase(trials))
    lines.append("")
    if not trials["judged"]:
        return [*lines, *findings.sentences(section, data)]
    lines += [
        f"{one.name:{NAME}}{one.value:>10}  {one.interval:<16}  {one.meaning}"
        for one in (*findings.headlines(section, data), *findings.low_end(section))
    ]
    lines.append("")
    for sentence in findings.sentences(section, data):
        lines += textwrap.wrap(sentence, WIDTH)
    for paragraph in findings.allocation(section):
        lines += ["", *textwrap.wrap(paragraph, WIDTH)]
    return lines


def _why(section: Mapping[str, Json]) -> list[str]:
    if not section["axes"]:
        return []
    shares = [
        f"{one_line(one['axis'])} {effect_words.share_beside_levels(one, section)}"
        for one in section["shares"]
        if (one["share"] or 0) >= _SHARE_SHOWN
    ]
    if section["entangled_share"] is not None:
        shares.insert(0, f"axes that this design cannot tell apart {percent(section['entangled_share'])}")
    unknown = diagnosis.unknown_axes_sentence(section)
    told = " · ".join(shares[:_SHARES_SHOWN]) or unknown or "no axis explains variance beyond noise"
    lines = ["", *wrapped("WHY", told)]
    known = [row for row in section["axes"] if row["effect"] is not None]
    if known and "joint p" in told:
        lines.append(
            "  joint p: all levels of an axis at once, which asks more of the same harnesses; Holm p: one level"
        )
    for row in known[:_LEVELS_SHOWN]:
        p = "" if row["p_adjusted"] is None else f"  Holm p {p_value(row['p_adjusted'])}"
        exposure = effect_words.exposure_phrase(row)
        lines.append(f"  {effect_words.level_name(row):<37} {effect_words.effect_phrase(row)}{p}  exposed {exposure}")
    lines += [f"  {one_line(axis)}: {one_line(reason)}" for axis, reason in effect_words.void_axes(section)]
    silent = sum(row["reason"] == NEVER_ACTED for row in section["axes"])
    rest = max(0, len(known) - _LEVELS_SHOWN)
    if rest:
        lines.append(f"  {count(rest, 'other level')} in the report")
    if silent:
        lines.append(f"  {count(silent, 'level')} {NOT_EXERCISED}")
    return lines


def _whose(section: Mapping[str, Json]) -> list[str]:
    """Who must act, the labels that cost most, and how the endpoint served."""
    lines = ["", *wrapped("WHOSE", diagnosis.blame_sentence(section))]
    lines += wrapped("", diagnosis.common_sentence(section))
    labels = diagnosis.costly(section)
    for place, row in enumerate(labels[:_LABELS_SHOWN]):
        owner = f"{row['owner']}, {diagnosis.effect_name(row['effect'])}"
        most = diagnosis.most_in_phrase(row, 1)
        met = f"{one_line(row['label']):<34} {count(row['trials'], 'trial'):<11} {owner:<34} most in {most}"
        lines.append(cut(f"{'' if place else 'LABELS':{NAME}}{met}"))
    if len(labels) > _LABELS_SHOWN:
        lines.append(f"{'':{NAME}}{count(len(labels) - _LABELS_SHOWN, 'more label')} in the report")
    health = section["endpoint_health"]
    told = dict(diagnosis.health_rows(section))
    if health["requests"]:
        lines += wrapped("ENDPOINT", f"requests: {told['Requests']}; {diagnosis.tokens_phrase(health)}")
    if health["retried"]:
        lines += wrapped("", f"retried: {told['Retried']}")
    if health["oddities"]:
        lines += wrapped("", f"put right: {told['Put right']}")
    if health["probe"]:
        lines += wrapped("", f"probe: {diagnosis.probe_phrase(section)}")
    return lines


def _rest(section: Mapping[str, Json]) -> list[str]:
    lines = []
    if any(entry["verdict"] for entry in section["harnesses"]):
        lines += wrapped("VERDICTS", f"{findings.verdict_counts(section)}; {findings.MARGIN}")
    lines.append(f"{'LOST':{NAME}}{diagnosis.lost_phrase(section)}")
    notes = section["notes"]
    lines += [f"{'note':{NAME}}{one_line(note)}" for note in notes[:_NOTES_SHOWN]]
    if len(notes) > _NOTES_SHOWN:
        lines.append(f"{'':{NAME}}and {count(len(notes) - _NOTES_SHOWN, 'more note')} in the report")
    return lines


def _not_run(section: Mapping[str, Json], data: Mapping[str, Json]) -> list[str]:
    if not section["unsupported"]:
        return []
    groups = diagnosis.unsupported_groups(section)
    lines = [f"{'NOT RUN':{NAME}}{diagnosis.unsupported_phrase(section, data)}"]
    for reason, label, names in groups[:_UNSUPPORTED_SHOWN]:
        who = one_line(names[0]) if len(names) == 1 else count(len(names), "harness")
        lines += _indented(f"{who}: {f'{one_line(label)}, ' if label else ''}{one_line(reason)}")
    if len(groups) > _UNSUPPORTED_SHOWN:
        lines.append(f"  {count(len(groups) - _UNSUPPORTED_SHOWN, 'more reason')} in the report")
    for label, told in diagnosis.remedies(label for _, label, _ in groups[:_UNSUPPORTED_SHOWN]):
        lines += _indented(f"{label}: {told}")
    return lines


def _indented(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")
