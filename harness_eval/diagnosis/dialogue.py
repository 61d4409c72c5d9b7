"""A recorded dialogue: a finding for every turn in the light of the others, and one for the whole."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness_eval.diagnosis.arguments import read_arguments
from harness_eval.diagnosis.behaviour import behaviours
from harness_eval.diagnosis.exchange import Exchange, outcome_of
from harness_eval.diagnosis.history import History
from harness_eval.diagnosis.labels import Finding, found
from harness_eval.diagnosis.offer import Offer, offer_in
from harness_eval.diagnosis.reply import PLAIN, evidence_of, label_reply
from harness_eval.diagnosis.turn import Turn, canonical
from harness_eval.endpoints.redaction import cleaner
from harness_eval.errors import ConfigError
from harness_eval.types import RawCall, Reply, ToolCall

DECISIVE = frozenset({"reported_separately", "excluded", "config_abort", "model_failure"})

_BROKEN = frozenset({"model.bad_args_json", "undetermined.bad_args_json", "limit.output_tokens_in_call"})
_ABOUT_JSON = re.compile(r"json|argument|pars|unterminated|delimiter|decod", re.IGNORECASE)
_UNSPECIFIC = frozenset({"harness.param_rejected", "undetermined.request_cut"})
_MAY_BE_DEADLINE = frozenset(
    {"infra.overloaded", "infra.gateway", "infra.stream_truncated", "infra.error_in_200", "infra.error_in_stream"}
)
_SAME_END = 3  # so many failures in a row after the same time are a limit that somebody has set
_SHORTEST = 5.0  # seconds; what fails sooner fails for another reason
_ALIKE = 0.02  # times that differ by no more than this share are the same
_UNKNOWN = ("model.unknown_tool_foreign", "model.unknown_tool_invented")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A finding for each turn, counted from 0, and one for the dialogue."""

    turns: tuple[Finding, ...]
    dialogue: Finding


@dataclass(slots=True)
class _Log:
    """What is kept of the turns read so far; a turn that failed has no reply."""

    findings: list[Finding] = field(default_factory=list)
    replies: list[Reply | None] = field(default_factory=list)
    offered: list[frozenset[str] | None] = field(default_factory=list)
    seconds: list[float | None] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)
    history: History = field(default_factory=History)


def diagnose(exchanges: Iterable[Exchange], name: str) -> Diagnosis:
    """What a recorded dialogue is, turn by turn and as a whole.

    Args:
        exchanges: the turns and retries of one dialogue, in order; read one at a time.
        name: the log's, for messages.

    Raises:
        ConfigError: there is none, or one cannot be read.
    """
    log, before = _Log(), list[Reply]()
    for exchange in exchanges:
        outcome, offer = outcome_of(exchange, name), _offered(exchange, log)
        reply = outcome.reply
        if reply is not None:
            log.findings.append(label_reply(reply, offer, before))
            before.append(reply)
        elif outcome.finding is not None:
            log.findings.append(outcome.finding)
        log.replies.append(reply)
        log.offered.append(offer.names)
        log.seconds.append(exchange.seconds)
        log.secrets.update(exchange.secrets)
        log.history.take(exchange.request, reply.calls if reply else ())
    if not log.findings:
        raise ConfigError(f"{name}: no exchange in it")
    _see_together(log)
    return _clean(log.findings, _of_dialogue(log), log.secrets)


def _offered(exchange: Exchange, log: _Log) -> Offer:
    """What the request offers; one without any tool takes away those that were offered before."""
    offer = offer_in(exchange.request)
    withdrawn = offer.whole and offer.empty and any(log.offered)
    return dataclasses.replace(offer, names=frozenset(), withdrawn=True) if withdrawn else offer


def _see_together(log: _Log) -> None:
    """Put right what a turn looked like by itself."""
    _poisoned(log)
    _deadlines(log)
    _filtered(log)
    _ids(log)


def _relabel(log: _Log, number: int, label: str, evidence: str) -> None:
    also = [name for name in log.findings[number].also if name != label]
    log.findings[number] = found(label, evidence_of(evidence), also=also)


def _poisoned(log: _Log) -> None:
    """A request that is refused for what an earlier turn left in the history."""
    broken = None
    for number, finding in enumerate(log.findings):
        if broken is not None and finding.label in _UNSPECIFIC and _ABOUT_JSON.search(finding.evidence):
            _relabel(log, number, "harness.history_poisoned", f"after the call of turn {broken}: {finding.evidence}")
        broken = number if {finding.label, *finding.also} & _BROKEN else broken


def _deadlines(log: _Log) -> None:
    """Failures in a row that all came after the same time."""
    run: list[int] = []
    for number, seconds in enumerate([*log.seconds, None]):
        failed = number < len(log.findings) and log.findings[number].label in {*_MAY_BE_DEADLINE, "infra.deadline"}
        first = log.seconds[run[0]] if run else seconds
        same = failed and seconds and first and seconds >= _SHORTEST and abs(seconds - first) <= _ALIKE * first
        if same:
            run.append(number)
            continue
        if len(run) >= _SAME_END:
            _name_deadline(log, run)
        run = [number] if failed and seconds and seconds >= _SHORTEST else []


def _name_deadline(log: _Log, run: Sequence[int]) -> None:
    for number in run:
        seen = f"{len(run)} times after {log.seconds[number]:g} s: {log.findings[number].evidence}"
        _relabel(log, number, "infra.deadline", seen)


def _filtered(log: _Log) -> None:
    """Replies to one and the same request, of which one has a call of an unknown tool and another has fewer calls."""
    places: dict[str, list[int]] = {}
    for number, asked in enumerate(log.history.turns):
        if asked.key and log.replies[number] is not None:
            places.setdefault(asked.key, []).append(number)
    for numbers in places.values():
        full = [n for n in numbers if {log.findings[n].label, *log.findings[n].also} & set(_UNKNOWN)]
        for number in numbers:
            if full and number not in full and _is_part(log.replies[number], log.replies[full[0]]):
                seen = f"calls missing that the same request brought in turn {full[0]}, one of an unknown tool"
                _relabel(log, number, "serving.unknown_tool_filtered", seen)


def _is_part(reply: Reply | None, other: Reply | None) -> bool:
    if reply is None or other is None or reply.text.strip() not in ("", other.text.strip()):
        return False
    return Counter(map(canonical, map(_call, reply.calls))) < Counter(map(canonical, map(_call, other.calls)))


def _ids(log: _Log) -> None:
    """Ids that come again in later turns; nothing is keyed on them, so it is only noted."""
    turns_of: dict[str, list[int]] = {}
    for number, reply in enumerate(log.replies):
        for call_id in dict.fromkeys(call.id for call in reply.calls) if reply else ():
            turns_of.setdefault(call_id, []).append(number)
    calling = sum(1 for reply in log.replies if reply and reply.calls)
    constant = len(turns_of) == 1 and calling > 1 and not _counts_calls(log.replies)
    label = "ok.id_constant" if constant else "ok.id_reused_across_turns"
    for call_id, numbers in turns_of.items():
        for number in numbers if len(numbers) > 1 else ():
            _note(log, number, label, f"id {call_id!r} in {len(numbers)} turns")


def _counts_calls(replies: Sequence[Reply | None]) -> bool:
    """Whether the ids are made of the tool's name and a number, and so begin anew each turn."""
    calls = [call for reply in replies if reply for call in reply.calls]
    return all(re.fullmatch(rf"(?:functions\.)?{re.escape(call.name)}\W?_?\d{{1,4}}", call.id) for call in calls)


def _note(log: _Log, number: int, label: str, evidence: str) -> None:
    """Give a plain turn this label; any other keeps its own and has this one besides."""
    finding = log.findings[number]
    if finding.label in PLAIN:
        log.findings[number] = found(label, evidence_of(evidence), also=finding.also)
    elif label not in (finding.label, *finding.also):
        log.findings[number] = dataclasses.replace(finding, also=(*finding.also, label))


def _of_dialogue(log: _Log) -> Finding:
    """The dialogue's own finding.

    The first turn decides that is not the model's plain work, then what the model does over many turns, then a failure
    after which the dialogue went on, then the first mistake that it was told of, then the first thing that was borne.
    """
    met = [*_over_turns(log)]
    told = [
        dataclasses.replace(finding, evidence=evidence_of(f"turn {number}: {finding.evidence}"))
        for number, finding in enumerate(log.findings)
    ]
    ranked = [
        *(finding for finding in told if finding.effect in DECISIVE and finding.effect != "excluded"),
        *(finding for finding in met if finding.effect in DECISIVE),
        *(finding for finding in told if finding.effect == "excluded"),
        *(finding for finding in told if finding.effect == "model_feedback"),
        *(finding for finding in (*told, *met) if finding.effect == "tolerated" and finding.label not in PLAIN),
        *reversed(told),
    ]
    first = ranked[0]
    others = [name for finding in (*told, *met) for name in (finding.label, *finding.also)]
    also = [name for name in dict.fromkeys(others) if name not in (*PLAIN, first.label)]
    return dataclasses.replace(first, also=tuple(also))


def _over_turns(log: _Log) -> Iterator[Finding]:
    """What shows over many turns only."""
    numbers = _own_turns(log)
    for number, asked in enumerate(log.history.turns):
        if asked.renamed:
            yield found("harness.history_rewrites_name", evidence_of(f"turn {number}: {asked.renamed} in the history"))
            break
    places = {number: place for place, number in enumerate(numbers)}
    turns = [_turn(log, number, places) for number in numbers]
    for finding in behaviours(turns, solved=None, task=log.history.task):
        seen = re.sub(r"\bturn (\d+)", lambda match: f"turn {_number(numbers, int(match[1]))}", finding.evidence)
        yield dataclasses.replace(finding, evidence=evidence_of(seen))


def _own_turns(log: _Log) -> list[int]:
    """The turns that the dialogue went on from: no failed attempts, and the last of the replies to one request.

    Where every request is the same, it was recorded once and put beside each turn: it tells nothing of any.
    """
    answered = [number for number, reply in enumerate(log.replies) if reply is not None]
    keys = [log.history.turns[number].key for number in answered]
    if len(set(keys)) == 1:
        return answered
    last = dict(zip(keys, answered, strict=True))
    return [number for number, key in zip(answered, keys, strict=True) if not key or last[key] == number]


def _number(numbers: Sequence[int], place: int) -> int:
    return numbers[place] if place < len(numbers) else place


def _turn(log: _Log, number: int, places: Mapping[int, int]) -> Turn:
    reply, asked = log.replies[number] or Reply(), log.history.turns[number]
    calls = tuple(_call(call) for call in reply.calls)
    hidden = frozenset(places[other] for other in asked.hidden if other in places)
    return Turn(
        reply.text,
        reply.thinking,
        calls,
        tuple(asked.results),
        log.findings[number],
        log.offered[number],
        asked.told,
        asked.compacted,
        hidden,
        (),
        reply.usage.prompt,
    )


def _call(call: RawCall) -> ToolCall:
    arguments = read_arguments(call.arguments)
    return ToolCall(call.id, call.name, arguments if isinstance(arguments, dict) else {"unreadable": call.arguments})


def _clean(turns: Sequence[Finding], dialogue: Finding, secrets: Iterable[str]) -> Diagnosis:
    clean = cleaner(sorted(secrets, key=len, reverse=True))
    cleaned = [dataclasses.replace(each, evidence=clean(each.evidence)) for each in (*turns, dialogue)]
    return Diagnosis(tuple(cleaned[:-1]), cleaned[-1])
