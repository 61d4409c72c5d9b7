"""What the wire shows of a black box: its tools, its prompt, what it does with history, results and errors."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from harness_eval.diagnosis.offer import text_of
from harness_eval.external.conversations import Talk
from harness_eval.external.heard import Heard, results_for
from harness_eval.types import Json, Reply, Usage

_FATES = ("kept", "moved", "dropped")
_CUT = re.compile(
    r"truncat|omitted|elided|\bcut off\b|\boutput (?:is |was )?too (?:long|large)\b"
    r"|\.\.\. ?\[?\d+ (?:more )?(?:lines|char)"
    r"|(?:saved|written) to (?:a )?file|exceed\w* (?:the )?(?:maximum|limit|allowed)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of the main conversation's first request that has any: names in order, bytes of them all as JSON, and
    a hash over them (16 hexadecimal digits), by which a change shows. `changed` says that later ones differ."""

    names: tuple[str, ...] = ()
    bytes: int = 0
    hash: str = ""
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the main conversation begins with: characters and hash (16 digits) of the system prompt, characters of what
    the harness says beside it and the task, bytes of the first request's body."""

    system_chars: int = 0
    system_hash: str = ""
    beside_chars: int = 0
    first_request_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Thinking:
    """What became of earlier thinking, over all requests of the main conversation.

    `replies` had thinking at all. Of so many of them that a request still showed (`due`, summed over requests), it came
    back as such (`kept`), inside of the text (`moved`) or not (`dropped`); `last` are these three numbers of the last
    request. `policy` says it in a word: kept, moved, dropped, partly, or unknown where no thinking was due.
    """

    replies: int = 0
    due: int = 0
    kept: int = 0
    moved: int = 0
    dropped: int = 0
    last: tuple[int, int, int] = (0, 0, 0)
    policy: str = "unknown"


@dataclass(frozen=True, slots=True)
class Results:
    """The results that were shown: how many, characters of the longest, how many say that they are shortened, how many
    the wire marks as failed; calls whose result was never shown though the conversation went on; the most calls in one
    reply, and whether the results of such a reply came back together (None where there was none)."""

    shown: int = 0
    longest_chars: int = 0
    shortened: int = 0
    failed: int = 0
    never_shown: int = 0
    most_calls: int = 0
    together: bool | None = None


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests by what became of them: all of them; those of the main conversation; the same once more; summaries;
    beside it (titles, helpers); refused by the gateway or the endpoint; not waited for. `first_seconds` is the time
    from the gateway's start to the first one, `sides` how each conversation beside begins."""

    all: int = 0
    main: int = 0
    again: int = 0
    summaries: int = 0
    beside: int = 0
    refused: int = 0
    undelivered: int = 0
    first_seconds: float | None = None
    sides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """How it asks: wires, model names, share of streamed requests, settings of sampling and thinking by key (the last
    value), and what could not be translated, each once."""

    wires: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    streamed: float = 0.0
    settings: Mapping[str, Json] | None = None
    untranslated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """All of it. `compactions` counts where history was replaced; `stop` is `no-call`, `call` or `nothing`: what the
    last reply of the main conversation had; `usage` is that of every exchange, once."""

    tools: Tools = Tools()
    prompt: Prompt = Prompt()
    thinking: Thinking = Thinking()
    results: Results = Results()
    requests: Requests = Requests()
    asked: Asked = Asked()
    compactions: int = 0
    stop: str = "nothing"
    usage: Usage = field(default_factory=Usage)


def facts_of(talk: Talk, instruction: str, compactions: int) -> Facts:
    """What the exchanges of one trial show."""
    every = talk.every
    if not every:
        return Facts()
    steps = [turn for turn in talk.main.answered if not talk.is_summary(turn)]
    last = steps[-1].reply if steps else None
    return Facts(
        tools=_tools(talk.main.turns),
        prompt=_prompt(talk.main.turns, instruction),
        thinking=_thinking(talk.main.turns),
        results=_results(talk.main.turns),
        requests=_requests(talk, every),
        asked=_asked(every),
        compactions=compactions,
        stop="nothing" if last is None else "call" if last.calls else "no-call",
        usage=sum((turn.reply.usage for turn in every if turn.reply is not None), Usage()),
    )


def _hashed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _schemas(turn: Heard) -> bytes:
    return orjson.dumps(list(turn.exchange.asked.request.tools), option=orjson.OPT_SORT_KEYS)


def _tools(turns: Sequence[Heard]) -> Tools:
    offering = [turn for turn in turns if turn.tools]
    if not offering:
        return Tools()
    first = offering[0].exchange.asked.request.tools
    names = tuple(str((tool.get("function") or tool).get("name")) for tool in first)
    told = _schemas(offering[0])
    return Tools(names, len(told), _hashed(told), any(_schemas(turn) != told for turn in offering[1:]))


def _prompt(turns: Sequence[Heard], instruction: str) -> Prompt:
    if not turns:
        return Prompt()
    first = turns[0]
    system = first.system.encode("utf-8", "replace")
    beside = len(first.said) - len(first.system) - (len(instruction) if instruction.strip() in first.said else 0)
    return Prompt(len(first.system), _hashed(system), max(0, beside), first.exchange.bytes_in)


def _thinking(turns: Sequence[Heard]) -> Thinking:
    met: Counter[str] = Counter()
    last: Counter[str] = Counter()
    earlier: list[Reply] = []
    for turn in turns:
        found = Counter(_fate(turn, reply) for reply in earlier)
        del found[""]
        met += found
        last = found or last
        if turn.reply is not None and turn.reply.thinking and turn.reply.thinking.strip():
            earlier.append(turn.reply)
    kept, moved, dropped = (met[name] for name in _FATES)
    due = kept + moved + dropped
    policy = next((name for name in _FATES if met[name] == due), "partly") if due else "unknown"
    newest = (last["kept"], last["moved"], last["dropped"])
    return Thinking(len(earlier), due, kept, moved, dropped, newest, policy)


def _fate(turn: Heard, reply: Reply) -> str:
    """What became of a reply's thinking in a later request; "" where the reply itself is not shown any more."""
    message = turn.echo(reply)
    if message is None:
        return ""
    thought = (reply.thinking or "").strip()
    if thought in str(message.get("reasoning_content") or ""):
        return "kept"
    return "moved" if thought in text_of(message) else "dropped"


def _results(turns: Sequence[Heard]) -> Results:
    texts, failed, missing = list[str](), 0, 0
    most, together = 0, list[bool]()
    for turn, later in itertools.pairwise(turns):
        if turn.reply is None or not turn.reply.calls or later.echo(turn.reply) is None:
            continue
        shown = results_for(turn.reply, later)
        texts += [each.text for each in shown if each is not None]
        failed += sum(each.failed for each in shown if each is not None)
        missing += sum(each is None for each in shown)
        if len(shown) > 1:
            together.append(all(each is not None for each in shown))
    most = max((len(turn.reply.calls) for turn in turns if turn.reply is not None), default=0)
    longest = max(map(len, texts), default=0)
    shortened = sum(1 for text in texts if _CUT.search(text[-2000:]) or _CUT.search(text[:2000]))
    return Results(len(texts), longest, shortened, failed, missing, most, all(together) if together else None)


def _requests(talk: Talk, every: Sequence[Heard]) -> Requests:
    return Requests(
        all=len(every),
        main=sum(not talk.is_summary(turn) for turn in talk.main.turns),
        again=len(talk.main.again),
        summaries=len(talk.summaries),
        beside=len(talk.beside),
        refused=sum(turn.reply is None for turn in every),
        undelivered=sum(not turn.exchange.delivered for turn in every),
        first_seconds=round(min(turn.exchange.began for turn in every), 3),
        sides=tuple(dict.fromkeys(_beginning(turn) for turn in talk.beside)),
    )


def _beginning(turn: Heard) -> str:
    return " ".join(turn.said.split())[:80]


def _asked(every: Sequence[Heard]) -> Asked:
    asked = [turn.exchange.asked for turn in every]
    settings = {key: value for each in asked for key, value in each.settings.items()}
    return Asked(
        wires=tuple(dict.fromkeys(turn.exchange.wire for turn in every)),
        models=tuple(dict.fromkeys(each.model for each in asked)),
        streamed=round(sum(each.streamed for each in asked) / len(asked), 3),
        settings=settings,
        untranslated=tuple(dict.fromkeys(_texts(each.untranslated for each in asked))),
    )


def _texts(groups: Iterator[Sequence[str]]) -> Iterator[str]:
    for group in groups:
        yield from group
