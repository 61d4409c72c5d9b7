"""What was met in the trials of one endpoint in words: whose it is, how the endpoint served, what cannot run there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from harness_eval.diagnosis.remedies import remedy
from harness_eval.report.wording import UNKNOWN, count, one_line, p_value, percent
from harness_eval.types import Json

Section = Mapping[str, Json]

_LABELS_TOLD = 3  # of one owner, in a sentence
_LIMIT = "limit."
_ENTANGLED = "cannot be told apart"  # how the estimate of a level begins its reason
_ANSWERS = ("yes", "no", "unknown")


EFFECTS: Mapping[str, str] = {
    "model failure": "the model's own",
    "model feedback": "told to the model, which could go on",
    "reported separately": "scored as it stands, but not the model's",
    "tolerated": "put right, costs nothing",
    "excluded": "missing, run again",
    "configuration abort": "this harness cannot run here",
}
_IN_REASONING = "undetermined.call_in_reasoning"


def effect_name(effect: str) -> str:
    """An effect of the vocabulary as words."""
    return effect.replace("_", " ").replace("config ", "configuration ")


def effects_sentence() -> str:
    """What each effect means."""
    return "; ".join(f"{name}: {meaning}" for name, meaning in EFFECTS.items()) + "."


def remedies(labels: Iterable[str]) -> list[tuple[str, str]]:
    """What can be done about these labels, each once; those without a remedy are left out."""
    return [(label, told) for label in dict.fromkeys(labels) if (told := remedy(label))]


def wire_sentence(section: Section) -> str:
    """How many of the zeros in the mean are not the model's, and the mean without them; "" where none is."""
    found = section["of_the_wire"]
    if not found:
        return ""
    owners = ", ".join(f"{owner} {number:,}" for owner, number in found["owners"].items())
    number, may_be = found["trials"], ", or may be," if "undetermined" in found["owners"] else ""
    verb, them = ("is", "it") if number == 1 else ("are", "them")
    said = f"{number:,} of {count(found['unsolved'], 'unsolved trial')} {verb}{may_be} the wire's ({owners})"
    if found["mean_without"] is None:
        return f"{said}; without {them} no trial is left, so the mean is unknown."
    gone = section["n_harnesses"] - found["harnesses_left"]
    over = f", {count(gone, 'harness')} having no trial left" if gone else ""
    return f"{said}; without {them} the mean is {percent(found['mean_without'])}{over}."


def short(label: str) -> str:
    """A label without its family, as words: the owner stands beside it."""
    words = one_line(label.partition(".")[2] or label).replace("_", " ")
    return f"limit: {words}" if label.startswith(_LIMIT) else words


def blame_sentence(section: Section) -> str:
    """Who must act for trials that were not solved: one clause an owner, the owner of most first."""
    rows = section["blame"]
    if not rows:
        return "Every trial with a verdict was solved." if section["trials"]["judged"] else ""
    lost = section["trials"]["lost"]
    among = f" ({lost:,} of them lost)" if lost else ""
    clauses = [f"{one_line(row['owner'])} {row['trials']:,} ({_most(row['labels'])})" for row in rows]
    number = count(sum(row["trials"] for row in rows), "trial")
    return f"{number} not solved{among}, by who must act: {', '.join(clauses)}."


def common_sentence(section: Section) -> str:
    """What unsolved trials have in common far more often than solved ones; "" where nothing stands out."""
    told = []
    for one in section["in_common"]:
        unsolved, solved = (f"{one[of]['met']:,} of {one[of]['trials']:,} {of}" for of in ("unsolved", "solved"))
        what = f"{one_line(one['axis'])} had acted at a level that costs"
        told.append(f"In {unsolved} trials {what}, against {solved} ones.")
    return " ".join(told)


def _most(labels: Mapping[str, int]) -> str:
    shown = [f"{short(label)} {number:,}" for label, number in list(labels.items())[:_LABELS_TOLD]]
    rest = sum(list(labels.values())[_LABELS_TOLD:])
    return ", ".join([*shown, f"other {rest:,}"] if rest else shown)


def costly(section: Section) -> list[Section]:
    """The labels that cost a score, a trial or a turn; what was merely tolerated is left out."""
    return [row for row in section["labels"] if row["effect"] != "tolerated"]


def turns(row: Section) -> str:
    """In how many turns a label was met: a dash where it belongs to whole trials."""
    return UNKNOWN if row["turns"] is None else f"{row['turns']:,}" if row["turns"] else "–"


def most_in(row: Section, shown: int) -> tuple[list[tuple[str, int]], int]:
    """The harnesses that met a label in most trials, with that number, and how many more there are."""
    met = [(harness, found["trials"]) for harness, found in row["harnesses"].items()]
    return met[:shown], max(0, len(met) - shown)


def most_in_phrase(row: Section, shown: int) -> str:
    """The same in one line."""
    met, more = most_in(row, shown)
    names = ", ".join(f"{one_line(harness)} ({number})" for harness, number in met)
    return f"{names} and {more} more" if more else names


def recovered_sentence(section: Section) -> str:
    """The recovered reading beside the strict one; "" where no trial ended on a leaked call."""
    found = section["recovered"]
    if not found:
        return ""
    mean = found["mean"]
    where = "into the text or the reasoning" if section["recovery"] == "reasoning" else "as text"
    return (
        f"{count(found['trials'], 'trial')} ended on a call that leaked {where}; recovered, the mean is "
        f"{percent(mean['recovered'])} instead of {percent(mean['strict'])}; the headline is the strict reading."
    )


def in_reasoning_sentence(section: Section) -> str:
    """How to see what calls in the reasoning would have come to; "" where none ended a trial, or it was done."""
    number = sum(row["labels"].get(_IN_REASONING, 0) for row in section["blame"])
    if not number or section["recovery"] != "content":
        return ""
    them = "it" if number == 1 else "them"
    return (
        f"{count(number, 'trial')} ended on a call in the reasoning: --recovery reasoning scores {them} recovered too."
    )


def unknown_axes_sentence(section: Section) -> str:
    """Said instead of a list, where no axis and no level can be estimated; "" where one can, or there is none."""
    rows = [*section["axes"], *section["shares"]]
    if any(row.get("effect", row.get("share")) is not None for row in rows):
        return ""
    if not any((one["reason"] or "").startswith(_ENTANGLED) for one in section["axes"]):
        return ""
    few = count(section["n_harnesses"], "tested harness")
    return (
        f"No effect of an axis can be estimated: {few} cannot show which of their differences matters. "
        "More harnesses, or harnesses that differ from the canonical one in one axis each, can."
    )


def no_axes_sentence(section: Section, data: Section) -> str:
    """Why no axis can be named, where the report has no level to compare."""
    if data["imported"]:
        return f"{UNKNOWN.capitalize()}: the {_named_source(data)} names no axes, so no difference has a cause here."
    if section["canonical"]["estimate"] is None:
        return "Nothing to compare: there is no canonical harness."
    return "Nothing to compare: no judged harness differs from the canonical one on a known axis."


def _named_source(data: Section) -> str:
    kind = data["imported"].get("kind") if isinstance(data["imported"], Mapping) else None
    return one_line(kind or "file")


def health_rows(section: Section) -> list[tuple[str, str]]:
    """How the endpoint served, each line in words."""
    found = section["endpoint_health"]
    return [
        ("Requests", requests_phrase(found)),
        ("Retried", _parts(found["retried"])),
        ("Put right", _parts(found["oddities"], " of turns")),
        ("Lost trials", ", ".join(f"{one_line(name)} {number:,}" for name, number in found["lost"].items()) or "none"),
        ("Seconds a turn", pace_phrase(found["seconds_per_turn"])),
        ("Tokens", tokens_phrase(found)),
        ("Usage missing", f"in {count(found['usage_missing'], 'turn')}" if found["usage_missing"] else "never"),
    ]


def requests_phrase(health: Section) -> str:
    """How many requests were made, and how many of them failed and were sent again."""
    failed = health["requests"] - health["turns"]
    share = f" ({percent(health['retried_share'])})" if failed else ""
    return f"{health['requests']:,} made, {failed:,} of them sent again{share}"


def _parts(parts: Mapping[str, Section], of: str = "") -> str:
    told = [f"{one_line(name)} {one['count']:,} ({percent(one['share'])}{of})" for name, one in parts.items()]
    return ", ".join(told) or "nothing"


def pace_phrase(pace: Section) -> str:
    """Seconds a turn, averaged within each trial."""
    if pace["median"] is None:
        return UNKNOWN
    return f"{pace['median']:,.1f} median, {pace['p95']:,.1f} at the 95th percentile of trials, tools included"


def tokens_phrase(health: Section) -> str:
    """What share of the prompt was cached, and of the completion reasoning."""
    return (
        f"{percent(health['cached_share'])} of the prompt cached, "
        f"{percent(health['reasoning_share'])} of the completion reasoning"
    )


def probe_phrase(section: Section) -> str:
    """How many questions of the probe got which answer, and which got a no."""
    probe = section["endpoint_health"]["probe"]
    if probe is None:
        return "not probed"
    answers = [one["status"] for one in probe["checks"]]
    told = ", ".join(f"{answers.count(status)} {status}" for status in _ANSWERS if status in answers)
    denied = ", ".join(one_line(one["check"]) for one in probe["checks"] if one["status"] == "no")
    calls = f" in {count(probe['calls'], 'call')}" if probe["calls"] else ""
    return f"{told or 'nothing asked'}{calls}" + (f"; no: {denied}" if denied else "")


def unsupported_phrase(section: Section, data: Section) -> str:
    """How many of the family's harnesses are in no figure here."""
    return f"{len(section['unsupported']):,} of {count(data['n_family'], 'harness')} cannot run here"


def unsupported_groups(section: Section) -> list[tuple[str, str, list[str]]]:
    """Reason, label and harnesses of what cannot run here, the reason of most harnesses first.

    Reasons that differ in numbers alone, such as the size of what was sent, are one.
    """
    groups: dict[tuple[str, str], tuple[str, str, list[str]]] = {}
    for entry in section["unsupported"]:
        alike = (entry["label"], re.sub(r"\d+", "#", entry["reason"]))
        groups.setdefault(alike, (entry["reason"], entry["label"], []))[2].append(entry["harness"])
    return sorted(groups.values(), key=lambda group: -len(group[2]))


def left_out(section: Section) -> str:
    """How many verdicts of harnesses that cannot run here are left out of every figure; "" where there is none."""
    number = sum(entry["judged"] for entry in section["unsupported"])
    verb = "is" if number == 1 else "are"
    return f"{count(number, 'verdict')} of theirs {verb} left out with them." if number else ""


def lost_phrase(section: Section) -> str:
    """Lost trials by owner and label."""
    told = []
    for owner, labels in section["lost_labels"].items():
        inner = ", ".join(f"{one_line(label)} {number:,}" for label, number in labels.items())
        told.append(f"{one_line(owner)} {sum(labels.values()):,} ({inner})")
    return ", ".join(told) or "none"


def loss_rate_phrase(section: Section) -> str:
    """What share of trials was lost, in the harness that lost most, and whether evenly; "" where none was."""
    rate, p_equal = section["loss"]["rate"], section["loss"]["p_equal"]
    if not rate:
        return ""
    runs = [(entry["lost"], entry["lost"] + entry["judged"]) for entry in section["harnesses"]]
    most = max((lost / run for lost, run in runs if run), default=0.0)
    evenly = "" if p_equal is None else f", equal rates p {p_value(p_equal)}"
    return f"{percent(rate)} lost, at most {percent(most)} of one harness{evenly}"


def bounds_phrase(section: Section) -> str:
    """What WORST would be had the lost trials all failed, or all passed."""
    loss = section["loss"]
    if loss["worst_if_failed"] is None:
        return ""
    failed, passed = percent(loss["worst_if_failed"]), percent(loss["worst_if_passed"])
    return f"Had all of them failed, WORST would be {failed}; had all passed, {passed}."
