"""What a check found in plain words. All its forms use these, so that they cannot disagree.

Every text of a check may come from outside: whatever leaves this module is on one line, short and without credentials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from harness_eval.diagnosis import remedies
from harness_eval.diagnosis.labels import LABELS
from harness_eval.report import wording
from harness_eval.report.wording import SCRIPTED, count, p_value, percent, points
from harness_eval.types import Json

Data: TypeAlias = Mapping[str, Json]

LIKELY = 0.5  # posterior chance from which a task is named as one that fell, where the gate fails
_NAME = 100  # characters of a name
_SENTENCE = 400
_DIFFERENCE = 1_000  # characters of what differs, which quotes a request of a harness
_VERSIONS_TOLD = 4
_GATES = {
    "sprt": "sequential test of pairs that differ (SPRT)",
    "fixed": "fixed gate: fails if the drop is surely above zero",
    "e-process": "test of pairs that differ, valid at every look (e-process)",
    "release": "release gate: passes only if the drop is surely below the margin",
}
_RULES = {
    "discordant pairs": "decided by the pairs that differ",
    "limits": "decided by the limits of the change",
    "none": "no rule decided",
}
_QUESTIONS = {"worst": "over the harnesses that both runs have", "spread": "between them", "record": "recorded trials"}


@dataclass(frozen=True, slots=True)
class Row:
    """One question in words; figures are "" where it has none. `more` is its finding, "" where the headline says it."""

    name: str
    meaning: str
    verdict: str
    before: str
    after: str
    change: str
    limits: str
    detectable: str
    said: str
    more: str


def foreign(text: object, length: int = _NAME) -> str:
    """A text from outside on one line, without credentials, cut in its middle to `length` characters."""
    return wording.foreign(text, length)


def sentence(text: object) -> str:
    """The same of a sentence, which may be longer."""
    return foreign(text, _SENTENCE)


def verdict(data: Data) -> str:
    """The verdict with what it means for whoever waits: PASS, INCONCLUSIVE (a warning)."""
    name = str(data["verdict"])
    meant = {"inconclusive": "a release needs a PASS" if data["exit_code"] else "a warning, not a failure"}
    return f"{name.upper()} ({meant[name]})" if name in meant else name.upper()


def headline(data: Data) -> str:
    """The verdict and the outcome in one sentence."""
    return f"{verdict(data)}: {sentence(data['said'])}"


def needed(data: Data) -> str:
    """What would decide a check beyond the trials that it was to have; "" where nothing has to, or they are missing."""
    decision, found = data["decision"], data["verdict"]
    open_ = found == "inconclusive" or (found == "incomplete" and not data["trials"]["missing"])
    return sentence(decision["needed"]) if decision and open_ else ""


def side(found: Data, used: float | None = None) -> str:
    """One of the two runs: its name, what answered, how much of it there is, and how much of that was used."""
    model = foreign(found["model"])
    answered = model if found["endpoint"] == found["model"] else f"{model} at {foreign(found['endpoint'])}"
    answered += f" ({SCRIPTED})" if found["scripted"] else ""
    made = f", {foreign(found['created'])}" if found["created"] else ""
    return f"{foreign(found['name'])}: {answered}; {size(found, used)}{made}"


def sides(data: Data) -> list[tuple[str, str]]:
    """Both runs, each with what it is called; once where it is the same one."""
    if data["before"] == data["after"]:
        return [("Run", side(data["after"]))]
    used = data["decision"]["repeats"] if data["decision"] else None
    return [("Before", side(data["before"])), ("After", side(data["after"], used))]


def size(found: Data, used: float | None = None) -> str:
    """How many tasks and repeats a run has; of a run that has not made all, how many repeats it was decided by."""
    part = f"{repeats(used)} of " if used is not None and used < found["repeats"] else ""
    return f"{count(found['tasks'], 'task')} × {part}{count(found['repeats'], 'repeat')}"


def briefly(data: Data) -> str:
    """The change that a badge has room for: of the first question that failed, else of the gated harness."""
    asked = [row for row in data["questions"] if row["change"]["estimate"] is not None]
    asked.sort(key=lambda row: (row["verdict"] != "fail", row["asked"] != "canonical"))
    if not asked:
        return ""
    name = "" if asked[0]["asked"] == "canonical" else f"{asked[0]['asked']} "
    return f"{name}{points(asked[0]['change']['estimate'], signed=True)}"


def rows(data: Data) -> list[Row]:
    """The questions, in their order."""
    return [_row(question, data) for question in data["questions"]]


def _row(question: Data, data: Data) -> Row:
    asked, change = str(question["asked"]), question["change"]
    unit = points if asked == "spread" else percent
    known = change["estimate"] is not None or question["after"]["estimate"] is not None
    before, after = (unit(question[moment]["estimate"]) if known else "" for moment in ("before", "after"))
    return Row(
        "GATED" if asked == "canonical" != data["harness"] else asked.upper(),
        _QUESTIONS.get(asked) or f"the harness {foreign(data['harness'])}",
        question_verdict(question),
        before,
        after,
        points(change["estimate"], signed=True) if known else "",
        wording.interval(change, signed=True),
        "" if question["detectable"] is None else points(question["detectable"]),
        sentence(question["said"]),
        "" if question["said"] in data["said"] or question["verdict"] == "pass" else sentence(question["said"]),
    )


def question_verdict(question: Data) -> str:
    """pass, FAIL, not decided, incomplete."""
    found = str(question["verdict"])
    return {"fail": "FAIL", "inconclusive": "not decided"}.get(found, found)


def decision(data: Data) -> list[str]:
    """By which gate, on how many pairs, with what statistic against which bounds, and where it stopped."""
    found = data["decision"]
    if not found:
        return []
    beta = "" if found["beta"] is None else f", beta {found['beta']:g}"
    pairs = f"{found['worse']:,} of {count(found['pairs'], 'pair')} of the same task and repeat solved only before"
    used = f"after {repeats(found['repeats'])} of at most {count(found['cap'], 'repeat')}"
    return [
        f"{_GATES[found['gate']]}; alpha {found['alpha']:g}{beta}, margin {points(found['margin'])}",
        f"{pairs}, {found['better']:,} only after",
        f"{_statistic(found)}{_RULES['none' if data['verdict'] == 'incomplete' else found['by']]}, {used}",
    ]


def _statistic(found: Data) -> str:
    if found["statistic"] is None:
        return ""
    bounds = [(found["fail_at"], "fails"), (found["pass_at"], "passes")]
    told = [f"{does} at {number(bound)}" for bound, does in bounds if bound is not None]
    return f"statistic {number(found['statistic'])}{_bracketed(told)}; "


def _bracketed(told: Sequence[str]) -> str:
    return f" ({', '.join(told)})" if told else ""


def number(value: float) -> str:
    """A statistic to two decimal places."""
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")


def repeats(value: float) -> str:
    """Repeats of the suite, which a sequential test may use in part."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def flipped_phrase(data: Data) -> str:
    """How many tasks are solved less often, and how many more often."""
    fell, rose = data["flipped"], data["improved"]
    less = f"{count(len(fell), 'task')} solved less often than before" if fell else "no task solved less often"
    return f"{less}{f', {len(rose):,} more often' if rose else ''}"


def likeliest(data: Data) -> list[Data]:
    """The tasks that fell, the likeliest first."""
    return sorted(data["flipped"], key=lambda row: -row["chance"])


def solved(row: Data, moment: str) -> str:
    """How many trials of a task were solved before or after."""
    return f"{row[f'{moment}_solved']:,} of {row[f'{moment}_trials']:,}"


def moved(row: Data) -> str:
    """What a task was and is, in a clause."""
    return f"solved {solved(row, 'before')} before, {solved(row, 'after')} now"


def flip(row: Data) -> str:
    """The same of one that fell."""
    return f"{moved(row)} (chance of a drop over 20 pp: {percent(row['chance'])})"


def met(row: Data) -> str:
    """In how many trials a label was met before and after, and how rarely chance alone shows so much."""
    before, after = (f"{row[moment]:,} of {row[f'{moment}_trials']:,}" for moment in ("before", "after"))
    p = p_value(row["p"])
    return f"{before} trials, then {after} (p {p})"


def meaning(label: object) -> str:
    """What a label of the vocabulary means; "" of any other."""
    known = LABELS.get(str(label))
    return known.meaning if known else ""


def remedy(label: object) -> str:
    """What can be done about a label; "" where nothing is known."""
    return remedies.remedy(str(label))


def quarantined(row: Data) -> str:
    """Why a task takes no part, in a clause."""
    return f"{row['lost']:,} of {count(row['trials'], 'trial')} of both runs lost"


def changed(row: Data) -> str:
    """What is not the same in both runs, in a clause."""
    return f"{row['kind']} {foreign(row['what'])}: {foreign(row['detail'], _DIFFERENCE)}"


def trials(data: Data) -> str:
    """What became of the new run's trials, those that were lost by owner."""
    found = data["trials"]
    parts = [f"{found['judged']:,} of at most {count(found['most'], 'trial')} judged"]
    if found["missing"]:
        absent = "missing" if data["verdict"] == "incomplete" else "not run"
        resumed = (
            " (the command that made the run goes on with them)" if data["decision"] and absent == "missing" else ""
        )
        parts.append(f"{found['missing']:,} {absent}{resumed}")
    owners = [f"{foreign(owner, 40)} {lost:,}" for owner, lost in list(data["lost"].items())[:_VERSIONS_TOLD]]
    parts.append(f"{found['lost']:,} lost{_bracketed(owners)}")
    return ", ".join(parts)


def versions(data: Data) -> str:
    """The versions of what ran that both runs know and that differ; "" where none does."""
    before, after = (data[moment]["versions"] for moment in ("before", "after"))
    names = [name for name in before if before[name] != after.get(name, before[name])]
    told = [
        f"{foreign(name, 40)} {foreign(before[name], 40)} → {foreign(after[name], 40)}"
        for name in names[:_VERSIONS_TOLD]
    ]
    return ", ".join(told)


def notes(data: Data) -> Sequence[str]:
    """The notes, each on one line."""
    return [sentence(note) for note in data["notes"]]
