"""What a model does over many turns: loops, what a compaction did to its work, what it never saw, how it ended.

All of it works on `Turn`s alone, whether a trial made them or a wire log. Turns are counted from 0.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from harness_eval.diagnosis import speech
from harness_eval.diagnosis.labels import Finding, found
from harness_eval.diagnosis.turn import Turn
from harness_eval.types import ToolCall

LOOP = 5
"""So many identical calls in a row, with results that do not change, are a loop."""

_PLANS_IN_A_ROW = 4
_PLAN_NAME = re.compile(r"plan|todo", re.IGNORECASE)
_NO_LOOK = re.compile(r"submit|finish|complet|think|plan|todo", re.IGNORECASE)
_CHANGING_NAME = re.compile(r"write|create|edit|replace|insert|patch|append|delete|remove|save|move", re.IGNORECASE)
_CHANGING_COMMAND = re.compile(
    r"(?:^|[;&|]\s*)(?:git (?:clone|commit|push|init|apply|merge)|mkdir|cp|mv|rm|touch|tee|patch|install|ln|chmod|"
    r"(?:pip3?|npm|apt|apt-get|cargo|go) install|curl .*-[oO]|wget)\b|sed -i|[^<>&\d]>>?\s*[\w./~$]"
)
_LITERAL = re.compile(r"[`\"“]([^`\"“”\n]{3,80})[`\"”]|(?<![\w/.-])((?:[\w-]+/)*[\w-]+\.[A-Za-z]\w{0,7})(?![\w/])")
_SPECIFIC = re.compile(r"[\w./:-]*\d[\w./:-]*")
_WAITING_NAME = re.compile(
    r"(?:\A|[_.-]|(?<=[a-z])(?=[A-Z]))(?:wait|sleep|poll|(?<!git_)status|progress)", re.IGNORECASE
)
_WAITING_COMMAND = re.compile(
    r"(?:^|[;&|(]|\bdo\b)\s*(?:sleep|wait|watch|squeue|sacct|qstat|jobs)\b"
    r"|(?<!git )(?<!svn )(?<!hg )\b(?:status|progress|poll)\b|\bkubectl (?:get|wait)\b|\bdocker ps\b",
    re.IGNORECASE,
)
_VERY_LONG = 3  # times the length of a loop
_FAILED = re.compile(r"\A(?:Error|Invalid call)|\[exit code \d+\]|\[timed out")
_SHOWN = 120  # characters of a call or a text that evidence quotes


def behaviours(
    turns: Sequence[Turn], *, solved: bool | None, task: str = "", ended: bool = True, repeats: int = LOOP
) -> tuple[Finding, ...]:
    """The findings of stages 6 and 7 of the order of decision, in the order of the turns that they begin with.

    Args:
        turns: all turns of the dialogue, in order.
        solved: the verdict; None where there is none. What a model did cannot have failed a solved trial, and how it
            ended is its failure in an unsolved one only.
        task: the task's words, where they are known: what a compaction must not lose.
        ended: whether it was the model that ended it, and no limit.
        repeats: how many identical calls in a row are a loop.
    """
    met = [*_loops(turns, repeats), *_churn(turns), *_stops_ignored(turns), *_unseen(turns), *_placeholders(turns)]
    met += _work_repeated(turns)
    if solved is False and turns and ended:
        met += [*_task_lost(turns, task), *_ending(turns)]
    return tuple(each for each in met if not (solved and each.effect == "model_failure"))


def _sound(turn: Turn) -> bool:
    """Whether nobody but the model had a part in the turn."""
    return turn.finding.effect in ("tolerated", "model_feedback", "model_failure")


def _told(turn: Turn) -> str:
    """The turn's calls, short enough to be quoted."""
    text = ", ".join(f"{name}({arguments})" for name, arguments in turn.asked)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _runs(turns: Sequence[Turn]) -> Iterator[list[int]]:
    """Numbers of turns in a row with the same calls, each made with the result of the one before in view."""
    run: list[int] = []
    for number, turn in enumerate(turns):
        if not (run and _repeats(turns[number - 1], turn, number)):
            if len(run) > 1:
                yield run
            run = []
        run.append(number)
    if len(run) > 1:
        yield run


def _repeats(before: Turn, turn: Turn, number: int) -> bool:
    seen = number - 1 not in turn.hidden and not turn.compacted
    return bool(turn.calls) and seen and _sound(before) and _sound(turn) and before.asked == turn.asked


def _loops(turns: Sequence[Turn], repeats: int) -> Iterator[Finding]:
    for run in _runs(turns):
        if all(map(waits, turns[run[0]].calls)):
            continue
        notices = [number for number in run[1:] if any(map(speech.says_unchanged, turns[number].results))]
        if len(run) >= repeats and len(notices) == len(run) - 1:
            yield _loop("model.loop_on_dedup_notice", turns, run)
            continue
        streak = max(reversed(_streaks(turns, run)), key=len)
        if len(streak) >= repeats and _goes_on(turns, streak, repeats):
            partial = all(_partial(turns[number]) for number in streak)
            yield _loop("model.loop_after_truncation" if partial else "model.loop_identical_calls", turns, streak)


def _goes_on(turns: Sequence[Turn], run: Sequence[int], repeats: int) -> bool:
    """Whether the model never found out of it by itself, or took very long to."""
    left = any(turn.calls or (turn.text.strip() and not speech.announces(turn.text)) for turn in turns[run[-1] + 1 :])
    return not left or len(run) >= _VERY_LONG * repeats


def waits(call: ToolCall) -> bool:
    """Whether a call only waits for something, or asks how far it is: to repeat that is no loop."""
    if _WAITING_NAME.search(call.name):
        return True
    commands = [value for value in call.arguments.values() if isinstance(value, str)]
    return any(map(_WAITING_COMMAND.search, commands))


def _streaks(turns: Sequence[Turn], run: Sequence[int]) -> list[list[int]]:
    """The parts of a run over which the results stay the same; an unknown result counts as unchanged."""
    streaks = [[run[0]]]
    for number in run[1:]:
        before, after = turns[streaks[-1][-1]].results, turns[number].results
        same = all(one is None or other is None or one == other for one, other in zip(before, after, strict=False))
        streaks[-1].append(number) if same else streaks.append([number])
    return streaks


def _partial(turn: Turn) -> bool:
    return any(turn.cut) or any(map(speech.says_cut, turn.results))


def _loop(label: str, turns: Sequence[Turn], run: Sequence[int]) -> Finding:
    onset = turns[run[0]]
    size = f", at {onset.prompt_tokens} prompt tokens" if onset.prompt_tokens else ""
    named = next((name for number in run if (name := _announced_other(turns[number]))), "")
    evidence = f"{len(run)} times {_told(onset)} from turn {run[0]}{size}"
    if not named:
        return found(label, evidence)
    return found(label, f"{evidence}; it speaks of calling {named}", also=["model.intent_emission_mismatch"])


def _announced_other(turn: Turn) -> str:
    """An offered tool that the model says it now calls, and does not."""
    called = {call.name for call in turn.calls}
    names = "|".join(re.escape(name) for name in sorted((turn.offered or frozenset()) - called, key=len, reverse=True))
    if not names:
        return ""
    announced = rf"\b(?:call|calling|use|using|invoke|invoking)\s+(?:the\s+)?[`'\"]?({names})\b"
    match = re.search(announced, f"{turn.thinking or ''}\n{turn.text}")
    return match[1] if match else ""


def _churn(turns: Sequence[Turn]) -> Iterator[Finding]:
    """Plans in a row that say the same in other words, or go back and forth between two."""
    run: list[int] = []
    work = sum(not _PLAN_NAME.search(call.name) for turn in turns for call in turn.calls)
    for number, turn in enumerate([*turns, None]):
        if turn is not None and turn.calls and all(_PLAN_NAME.search(call.name) for call in turn.calls):
            run.append(number)
            continue
        versions = [turns[place].asked for place in run]
        if len(run) >= _PLANS_IN_A_ROW and len(set(versions)) == 2 and _goes_nowhere(versions):
            plans = sum(len(turn.calls) for turn in turns) - work
            said = f"{len(run)} times {_told(turns[run[0]])} and another wording from turn {run[0]}"
            yield found("model.planning_churn", f"{said}; {plans} plan calls, {work} work calls")
        run = []


def _goes_nowhere(versions: Sequence[tuple[tuple[str, str], ...]]) -> bool:
    alike = len({re.sub(r"\W+", " ", str(version)).casefold() for version in versions}) == 1
    return alike or all(one != other for one, other in itertools.pairwise(versions))


def _stops_ignored(turns: Sequence[Turn]) -> Iterator[Finding]:
    for number, turn in enumerate(turns):
        if turn.calls and turn.offered is not None and not turn.offered and any(map(speech.tells_to_stop, turn.told)):
            yield found("model.ignores_stop", f"{_told(turn)} in turn {number}, after it was told to stop")
            return


def _unseen(turns: Sequence[Turn]) -> Iterator[Finding]:
    """Results that were never shown, and calls made again because their results were no longer shown."""
    for number, turn in enumerate(turns[1:], 1):
        if number - 1 in turn.hidden and turns[number - 1].calls and not turn.compacted:
            yield found("harness.result_dropped", f"what turn {number - 1} asked for was not in the next request")
            break
    yield from itertools.islice(_looked_again(turns), 1)


def _looked_again(turns: Sequence[Turn]) -> Iterator[Finding]:
    """Calls whose result was blanked and that are made again, though nothing was changed meanwhile."""
    places: dict[tuple[str, str], list[int]] = {}  # where each call had a result, since the last change
    for number, turn in enumerate(turns):
        if any(map(_changes, turn.calls)):
            places = {}
            continue
        looks = [call for call in turn.asked if not _NO_LOOK.search(call[0])]
        blanked = [old for call in looks for old in places.get(call, ()) if old in turn.hidden and old < number - 1]
        if blanked:
            said = f"{_told(turn)} again in turn {number}; turn {min(blanked)} was blanked"
            yield found("harness.context_elided", said)
        for call, result in _answered(turn):
            if not _FAILED.search(result or ""):
                places.setdefault(call, []).append(number)


def _placeholders(turns: Sequence[Turn]) -> Iterator[Finding]:
    thoughts = [turn.thinking.strip() for turn in turns if turn.thinking and turn.thinking.strip()]
    repeated = Counter(thought for thought in thoughts if speech.is_placeholder(thought)).most_common(1)
    if repeated and repeated[0][1] > 1:
        (word, times), distinct = repeated[0], len(set(thoughts))
        evidence = f"{word!r} {times} times; {distinct} distinct reasonings in {len(thoughts)} turns"
        yield found("gateway.reasoning_placeholder", evidence)


def _work_repeated(turns: Sequence[Turn]) -> Iterator[Finding]:
    """A change made before a compaction and made again after it, word for word."""
    done: set[tuple[str, str]] = set()
    lately: set[tuple[str, str]] = set()
    for number, turn in enumerate(turns):
        if turn.compacted:
            done |= lately
        again = next((call for call in turn.asked if call in done), None)
        if again is not None:
            summary = " ".join(turn.told)[:_SHOWN]
            evidence = f"{again[0]}({again[1][:_SHOWN]}) again in turn {number}; summary: {summary!r}"
            yield found("model.repeats_done_work_after_compaction", evidence)
            return
        worked = [call for call, result in _answered(turn) if not _FAILED.search(result or "")]
        changes = (asked for call, asked in zip(turn.calls, turn.asked, strict=True) if _changes(call))
        lately |= {asked for asked in changes if asked in worked}


def _answered(turn: Turn) -> Iterator[tuple[tuple[str, str], str | None]]:
    """Each call of a turn with its result."""
    return zip(turn.asked, itertools.chain(turn.results, itertools.repeat(None)), strict=False)


def _changes(call: ToolCall) -> bool:
    """Whether a call leaves something behind, as far as its name and its command say."""
    commands = [value for value in call.arguments.values() if isinstance(value, str)]
    return bool(_CHANGING_NAME.search(call.name)) or any(map(_CHANGING_COMMAND.search, commands))


def _task_lost(turns: Sequence[Turn], task: str) -> Iterator[Finding]:
    """Exact words of the task that a summary leaves out, and that no turn before or after it has."""
    summaries = " ".join(note for turn in turns if turn.compacted for note in turn.told)
    if not summaries or turns[-1].calls:
        return
    used = " ".join(f"{turn.text} {' '.join(arguments for _, arguments in turn.asked)}" for turn in turns)
    literals = dict.fromkeys(quoted or plain for quoted, plain in _LITERAL.findall(task))
    lost = [word for word in literals if word not in summaries and word not in used]
    if lost:
        evidence = f"{', '.join(map(repr, lost[:3]))} of the task; summary: {summaries[:_SHOWN]!r}"
        yield found("model.task_lost_after_compaction", evidence)


def _ending(turns: Sequence[Turn]) -> Iterator[Finding]:
    """Why an unsolved dialogue ended where the model, of its own will, called nothing more."""
    last = turns[-1]
    if last.calls or not _plainly(last):
        return
    text, said = last.text, f"{last.text.strip()[-_SHOWN:]!r}"
    if speech.asks(text):
        yield found("model.asked_user", said)
    elif speech.announces(text) or any(turn.calls and turn.text == text != "" for turn in turns):
        yield found("model.premature_stop", said)
    elif (claim := speech.claimed(text)) and not any(turn.calls or not _plainly(turn) for turn in turns):
        yield found("model.claimed_action_not_taken", f"{claim!r}, and nothing was called")
    elif len(turns) > 1 and _took_fragment(turns[-2], text):
        yield found("model.ignored_truncation", f"{_told(turns[-2])} was cut, and {said} follows from it")


def _plainly(turn: Turn) -> bool:
    return turn.finding.effect == "tolerated"


def _took_fragment(turn: Turn, answer: str) -> bool:
    """Whether an answer repeats something of a result that said of itself that it was cut."""
    if speech.mentions_cut(answer):
        return False
    words = {word.strip(".:/-") for word in _SPECIFIC.findall(answer)}
    cut = [result for result in turn.results if result is not None and speech.says_cut(result)]
    return any(len(word) > 2 and word in result for result in cut for word in words)
