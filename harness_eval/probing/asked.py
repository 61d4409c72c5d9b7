"""Ask an endpoint what can be asked of any, then show it what each harness would send."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import anyio.to_thread

from harness_eval.diagnosis.labels import LABELS
from harness_eval.diagnosis.reply import label_reply
from harness_eval.diagnosis.step import body_of
from harness_eval.endpoints.config import EndpointConfig
from harness_eval.endpoints.probe import MOST_CALLS, Asking, Check, Examined, at_once, examine, wire
from harness_eval.endpoints.probe.check import number_of
from harness_eval.endpoints.probe.questions import greeting
from harness_eval.errors import EndpointDown, HarnessEvalError, HarnessFailure
from harness_eval.harness import Harness
from harness_eval.probing.found import Probe, Unsupported, Void, impossible
from harness_eval.probing.shapes import Shape, as_sent, shapes_of
from harness_eval.types import Json, Reply, Request

_MOST_SEARCHES = 24  # calls to find the tools that are refused
_OF_TOOLS = ("", "harness.schema_rejected", "harness.tool_name_rejected", "serving.crash_on_schema")
_IGNORED = "serving.history_reasoning_ignored"
_AS_TEXT = "as-text"  # the level under which earlier reasoning travels where no server takes it out
_VOID = "the thinking axis compares nothing here: "


async def probe(config: EndpointConfig, harnesses: Sequence[Harness]) -> Probe:
    """What a few calls tell about this endpoint and these harnesses on it; what they do not tell is unknown.

    At most 24 calls, one for each distinct shape of the harnesses' requests, and 24 to find a tool that is refused.

    Raises:
        EndpointDown: no call can succeed.
        ConfigError: the key or a header is missing.
    """
    shapes = await anyio.to_thread.run_sync(shapes_of, harnesses)
    asking = Asking(config, MOST_CALLS + len(shapes) + _MOST_SEARCHES)
    try:
        examined = await examine(asking, _label_of)
        accepted, refused = await _acceptance(asking, shapes, examined)
    finally:
        await asking.close()
    ruled_out = {each.harness: each for each in (*_ruled_out(examined, shapes), *refused)}
    named = {harness.name: ruled_out.get(harness.name) for harness in harnesses}
    return Probe(
        config.model,
        (*examined.checks, _wire(asking, examined), accepted),
        tuple(_void(examined, harnesses)),
        tuple(each for each in named.values() if each is not None),
        asking.calls,
        asking.most,
        asking.usage,
        config.cost(asking.usage),
        asking.served_as,
    )


def _wire(asking: Asking, examined: Examined) -> Check:
    first = examined.checks[0]
    return wire(asking, _label_of) if examined.alive else Check("wire", "unknown", first.detail, first.label)


async def _acceptance(asking: Asking, shapes: Sequence[Shape], examined: Examined) -> tuple[Check, list[Unsupported]]:
    """Show the server each shape once; where nothing came back before, nothing is asked."""
    name = "harnesses"
    if not examined.alive:
        return Check(name, "unknown", examined.checks[0].detail, examined.checks[0].label), []
    sent = [as_sent(shape.request, examined.ids, examined.foreign_calls) for shape in shapes]
    answers = await at_once([partial(asking.ask, request) for request in sent])
    refused: list[Unsupported] = []
    open_, search = [], _Search(asking)
    for shape, request, answer in zip(shapes, sent, answers, strict=True):
        if isinstance(answer, Reply):
            continue
        if not _final(answer):
            open_.append(answer)
            continue
        reason = f"{await search.offender(request, answer)}{answer}"
        refused += [Unsupported(harness, reason, answer.label) for harness in shape.harnesses]
    return _told(name, shapes, refused, open_), refused


def _told(
    name: str, shapes: Sequence[Shape], refused: Sequence[Unsupported], open_: Sequence[HarnessEvalError]
) -> Check:
    harnesses = number_of(sum(len(shape.harnesses) for shape in shapes), "harness", "harnesses")
    shown = f"{harnesses} in {number_of(len(shapes), 'distinct shape')} of requests"
    if refused:
        return Check(
            name,
            "no",
            f"{shown}; {len(refused)} {'is' if len(refused) == 1 else 'are'} refused, first: {refused[0].reason}",
            refused[0].label,
        )
    if open_:
        return Check(
            name, "unknown", f"{shown}; {number_of(len(open_), 'shape')} without an answer: {open_[0]}", open_[0].label
        )
    return Check(name, "yes", f"{shown}, {'all ' * (len(shapes) > 1)}accepted")


def _final(error: HarnessEvalError) -> bool:
    """Whether an error means that the same request can never succeed here, though others do."""
    if isinstance(error, EndpointDown):  # an address or a model that is unknown for such requests alone
        return True
    return impossible(error.label) if error.label in LABELS else isinstance(error, HarnessFailure)


class _Search:
    """Finds the tool for which a request is refused, by halving; each set of tools is searched once."""

    def __init__(self, asking: Asking) -> None:
        self.asking, self.found, self.left = asking, dict[str, str](), _MOST_SEARCHES

    async def offender(self, request: Request, error: HarnessEvalError) -> str:
        """`the tool NAME: `, or "" where it is not for one tool, or could not be found."""
        tools, key = request.tools, json.dumps(request.tools)
        named = any(tool["function"]["name"] in str(error) for tool in tools)
        if named or error.label not in _OF_TOOLS:
            return ""
        needed = 2 + max(len(tools) - 1, 0).bit_length()
        if tools and key not in self.found and needed <= self.left:
            self.left -= needed
            self.found[key] = await self._halved(tools)
        return self.found.get(key, "")

    async def _halved(self, tools: tuple[dict[str, Json], ...]) -> str:
        if not await self._refused(tools):
            return ""
        while len(tools) > 1:
            half = tools[: len(tools) // 2]
            tools = half if await self._refused(half) else tools[len(tools) // 2 :]
        return f"the tool {tools[0]['function']['name']}: " if await self._refused(tools) else ""

    async def _refused(self, tools: tuple[dict[str, Json], ...]) -> bool:
        answer = await self.asking.ask(replace(greeting(), tools=tools))
        return isinstance(answer, HarnessEvalError) and _final(answer)


def _ruled_out(examined: Examined, shapes: Sequence[Shape]) -> Iterator[Unsupported]:
    """What serving itself makes impossible: thinking that is asked for and not done, calls that it cannot read."""
    for check in examined.checks:
        known = LABELS.get(check.label)
        serving = known is not None and impossible(check.label) and known.owner != "harness"
        if check.status != "no" or not serving or check.check not in ("thinking", "tool_round_trip"):
            continue
        for shape in shapes:
            if shape.request.tools or check.check == "thinking":
                yield from (Unsupported(harness, check.detail, check.label) for harness in shape.harnesses)


def _void(examined: Examined, harnesses: Sequence[Harness]) -> Iterator[Void]:
    if examined.reasons is False:
        yield Void("thinking", f"{_VOID}the model returns no reasoning")
    elif any(check.label == _IGNORED for check in examined.checks):
        as_text = any(harness.thinking.level_name() == _AS_TEXT for harness in harnesses)
        but = ", unless it is sent as text" if as_text else ""
        reason = f"{_VOID}earlier reasoning does not reach the prompt{but}"
        yield Void("thinking", reason, (_AS_TEXT,) if as_text else ())


def _label_of(reply: Reply, request: Request) -> str:
    return label_reply(reply, body_of(request)).label
