"""What the wire showed of external harnesses, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness_eval import recording
from harness_eval.report.wording import UNKNOWN, count, one_line, percent, points, share
from harness_eval.types import Json

Section = Mapping[str, Json]

MEANING = (
    "Labels, owners and verdicts are made as for harnesses of levels, from what passed the gateway. A black box shows "
    "no more than that: why it sends what it sends, what it keeps for itself and what it does in its box without "
    "asking cannot be known. It has no levels, so no effect of an axis rests on it; what it asks of sampling is "
    "written down and not sent on."
)
COUNTED = "Thinking is counted once for each later request that still shows the reply it came with."
COLUMNS = (
    "Tools",
    "System prompt",
    "First request",
    "Thinking history",
    "Results shortened",
    "Compactions",
    "Requests",
)

_SHOWN = 3  # values of a setting
_SHORT = 80
_KINDS = {"external": "external", "levels": "of levels"}
_FATES = {"kept": "comes back", "moved": "moved into the text", "dropped": "dropped", "partly": "comes back in part"}
_DOES = {"moved": "moves earlier thinking into the text", "dropped": "drops earlier thinking"}
_ENDED = {"no-call": "a reply without a call", "call": "a reply with a call", "nothing": "no reply"}
_STATES = {
    "same": "offers the tools that it offered when it was locked",
    "not-locked": "it is not in the lock, so nothing is known of changes",
    "other-version": "the lock has another version of it, so nothing is known of changes",
    "other-adapter": "the lock has another way of starting it, so nothing is known of changes",
    "no-request": "it made no request, so nothing is known of changes",
}


def cells(entry: Section) -> list[str]:
    """What stands under each of `COLUMNS` for one harness."""
    if not entry["trials"]:
        return [UNKNOWN] * len(COLUMNS)
    tools, prompt, results = entry["tools"], entry["prompt"], entry["results"]
    return [
        f"{between(tools['count'])}, {size(tools['schema_bytes'])}",
        f"{between(prompt['system_chars'])} characters",
        size(prompt["first_request_bytes"]),
        thinking_phrase(entry["thinking"]),
        f"{results['shortened']:,} of {results['shown']:,}",
        f"{entry['compactions']:,}",
        f"{between(entry['requests']['a_trial'])} a trial",
    ]


def rows(entry: Section) -> list[tuple[str, str]]:
    """All that is known of one harness, each with its name."""
    told = [("Version", _version(entry)), ("Since it was locked", lock_phrase(entry))]
    if entry["trials"]:
        told += [(what, said) for what, said in _of_the_wire(entry) if said]
    else:
        told.append(("Requests", "none in any trial"))
    return [*told, ("Exit codes", _numbers(entry["exit_codes"]) or UNKNOWN)]


def _of_the_wire(entry: Section) -> Iterator[tuple[str, str]]:
    tools, prompt, asked = entry["tools"], entry["prompt"], entry["asked"]
    streamed = asked["streamed"]["least"], asked["streamed"]["most"]
    how = {(1.0, 1.0): "streamed", (0.0, 0.0): "not streamed"}.get(streamed, "streamed in part")
    yield "Wire", f"{', '.join(entry['wires'])}, {how}; asks for the model {', '.join(map(one_line, asked['models']))}"
    within = f"; they changed within {count(tools['changed_within'], 'trial')}" if tools["changed_within"] else ""
    hashes = ", ".join(tools["hashes"])
    yield "Tools", f"{between(tools['count'])}, {size(tools['schema_bytes'])} of schemas, hash {hashes}{within}"
    beside = f"{between(prompt['beside_chars'])} more beside it and the task"
    yield "System prompt", f"{between(prompt['system_chars'])} characters, {beside}"
    yield "First request", size(prompt["first_request_bytes"])
    yield "Thinking history", thinking_phrase(entry["thinking"], whole=True)
    yield "Results", _results(entry["results"])
    yield "Calls at once", _parallel(entry["results"])
    yield "Compaction", count(entry["compactions"], "time") if entry["compactions"] else "none seen"
    yield "Requests", _requests(entry)
    yield "Beside the conversation", "; ".join(f"“{one_line(text, _SHORT)}”" for text in entry["requests"]["sides"])
    ended = {_ENDED.get(key, key): number for key, number in entry["ended"].items()}
    yield "Stopped on", _numbers(ended)
    yield "Settings asked", "; ".join(_setting(key, values) for key, values in asked["settings"].items()) or "none"
    yield "Not carried over", _numbers(asked["untranslated"]) or "nothing"
    yield "Turned away", _numbers(entry["turned_away"])


def thinking_phrase(told: Section, *, whole: bool = False) -> str:
    """What became of earlier thinking, as n of m; why it is not measured, where it is not."""
    if told["reason"]:
        return f"not measured: {told['reason']}"
    fate = told["policy"]
    said = f"{_FATES[fate]}: {told['kept' if fate == 'partly' else fate]:,} of {told['due']:,}"
    if fate == "partly":
        rest = [f"{told[name]:,} {_FATES[name]}" for name in ("moved", "dropped") if told[name]]
        said = ", ".join([said, *rest])
    if whole:
        said += f", in {count(told['trials'], 'trial')}"
    if len(told["policies"]) > 1:
        each = [f"{_FATES.get(name, name)} in {number:,}" for name, number in told["policies"].items()]
        said += f" (trials differ: {', '.join(each)})"
    return said


def lock_phrase(entry: Section) -> str:
    """Whether it is what the lock of external harnesses remembers."""
    lock = entry["lock"]
    if lock["changes"]:
        return "; ".join(one_line(each) for each in lock["changes"])
    return _STATES[lock["state"]]


def sentences(section: Section) -> list[str]:
    """What a reader must know of external harnesses: what they do to thinking, and what changed since their lock."""
    told = []
    for fate, does in _DOES.items():
        names = [one_line(each["harness"]) for each in section["externals"] if each["thinking"]["policy"] == fate]
        if names:
            told.append(f"{' and '.join(names) if len(names) < 3 else ', '.join(names)}: {does}.")
    changed = [each for each in section["externals"] if each["lock"]["changes"]]
    told += [f"{one_line(each['harness'])} {lock_phrase(each)}." for each in changed]
    return told


def family_rows(section: Section) -> list[tuple[str, int, str, str, str, str]]:
    """The two families beside each other: name, harnesses, WORST, MEAN, SPREAD and the lowest plain mean."""
    return [
        (
            _KINDS[one["kind"]],
            len(one["harnesses"]),
            UNKNOWN if one["worst"]["reason"] else share(one["worst"]),
            share(one["mean"]),
            points(one["spread"]["estimate"]),
            percent(one["lowest"]),
        )
        for one in section["families"]
    ]


def between(values: Section) -> str:
    """A number, or from the least to the most where trials differ."""
    least, most = values["least"], values["most"]
    if least is None:
        return UNKNOWN
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def size(values: Section) -> str:
    """Bytes, as kilobytes from a thousand on."""
    least, most = values["least"], values["most"]
    if least is None:
        return UNKNOWN
    told = [f"{value / 1000:,.1f} kB" if most >= 1000 else f"{value:,} B" for value in (least, most)]
    return told[0] if told[0] == told[1] else " to ".join(told)


def _version(entry: Section) -> str:
    found = [one_line(text) for text in entry["versions_found"]]
    pinned = f"{one_line(entry['version'])} pinned"
    return f"{pinned}; says of itself: {', '.join(found)}" if found else f"{pinned}; what it says of itself is unknown"


def _results(told: Section) -> str:
    said = f"{told['shown']:,} shown, the longest of {told['longest_chars']:,} characters"
    said += f"; {told['shortened']:,} say that they are shortened, {told['failed']:,} are marked as failed"
    return said + (f", {told['never_shown']:,} were never shown" if told["never_shown"] else "")


def _parallel(told: Section) -> str:
    if told["most_calls"] < 2:
        return "never more than one in a reply, so it is not known"
    how = {True: "their results came back together", False: "their results came back one by one or not at all"}
    return f"up to {told['most_calls']:,} in a reply; {how.get(told['together'], 'what became of them is not known')}"


def _requests(entry: Section) -> str:
    asked = entry["requests"]
    said = f"{asked['all']:,} in {count(entry['trials'], 'trial')}, {between(asked['a_trial'])} a trial"
    parts = (
        ("again", "the same once more"),
        ("summaries", "for a summary"),
        ("beside", "beside the conversation"),
        ("refused", "refused"),
        ("undelivered", "not waited for"),
    )
    odd = [f"{asked[key]:,} {words}" for key, words in parts if asked[key]]
    silent = f"; {count(entry['silent'], 'trial')} without any" if entry["silent"] else ""
    return f"{said}; {', '.join(odd) if odd else 'none sent again, none beside the conversation'}{silent}"


def _setting(key: str, values: Sequence[Json]) -> str:
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values) and len(values) > 1:
        return f"{one_line(key, _SHORT)} {min(values):,} to {max(values):,}"
    told = [one_line(recording.dump(value).decode(), _SHORT) for value in values[:_SHOWN]]
    if len(values) > _SHOWN:
        return f"{one_line(key, _SHORT)} another in each trial"
    return f"{one_line(key, _SHORT)} {' or '.join(told)}"


def _numbers(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{one_line(key, 2 * _SHORT)} ({number:,})" for key, number in counts.items())
