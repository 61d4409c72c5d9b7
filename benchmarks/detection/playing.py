"""One real trial with the scripted agent in the same process: the real harness, box and verifier, but no network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import orjson

from benchmarks.detection.memory import Memory, NotRemembered, Remembering
from harness_eval import recording, store
from harness_eval.endpoints.base import Endpoint
from harness_eval.endpoints.body import request_body
from harness_eval.endpoints.config import EndpointConfig
from harness_eval.endpoints.reply import ReplyAssembler
from harness_eval.errors import HarnessFailure
from harness_eval.harness import Harness
from harness_eval.planning import REFERENCE
from harness_eval.reference.answering import Answerer
from harness_eval.reference.coupling import COUPLINGS, Coupling
from harness_eval.reference.couplings import NeedsThinking
from harness_eval.reference.faults import Draws
from harness_eval.reference.moment import Moment
from harness_eval.reference.player import Player
from harness_eval.reference.scripts import Scripts
from harness_eval.reference.turns import Turn
from harness_eval.reference.wire import MODEL
from harness_eval.sandboxes.base import SandboxProvider
from harness_eval.task import Task
from harness_eval.trial import Trial, run_trial
from harness_eval.types import Json, Limits, Reply, Request, Result, TrialKey

LIMITS = Limits(steps=30)
_ATTEMPTS = 3  # with real boxes
_SETTINGS = EndpointConfig(name=REFERENCE, model=MODEL, base_url="http://127.0.0.1/v1", scripted=True)


@dataclass(frozen=True, slots=True)
class Entry:
    """The outcome of a trial of one task (digest) under one harness (id) with one coupling ("" is none).

    `row` is its line of results.jsonl; it holds for every luck (draw divided by strength) from `low` to below `high`.
    `below` says, for a trial without a coupling, below which luck each coupling would have changed it; those that are
    not in it never would.
    """

    task: str
    harness: str
    coupling: str
    low: float
    high: float
    below: Mapping[str, float]
    row: Mapping[str, Json]


@dataclass(slots=True)
class Watched:
    """Stands where a coupling stands: spoils nothing, and notes below which luck each coupling would have."""

    strength: float = 1.0
    below: dict[str, float] = field(default_factory=dict)

    def draw(self, task: str, seed: int) -> float:
        return 0.0

    def spoil(self, turn: Turn, moment: Moment, luck: float) -> Turn:
        for name, kind in COUPLINGS.items():
            if kind().spoil(turn, moment, luck) != turn:
                below = NeedsThinking.lacking(moment) if kind is NeedsThinking else 1.0
                self.below[name] = max(below, self.below.get(name, 0.0))
        return turn


@dataclass(slots=True)
class Struck:
    """A coupling of full strength in a trial with this luck, and the range of luck that would have done the same."""

    coupling: Coupling
    luck: float
    strength: float = 1.0
    low: float = 0.0
    high: float = 1.0

    def draw(self, task: str, seed: int) -> float:
        return self.luck

    def spoil(self, turn: Turn, moment: Moment, luck: float) -> Turn:
        if isinstance(self.coupling, NeedsThinking) and turn.purpose != "words":
            share = self.coupling.lacking(moment)
            self.low = max(self.low, share) if share <= luck else self.low
            self.high = min(self.high, share) if share > luck else self.high
        return self.coupling.spoil(turn, moment, luck)


class InProcess(Endpoint):
    """The scripted agent, asked with the very bytes that its server would get."""

    name, model = REFERENCE, MODEL

    def __init__(self, scripts: Scripts, planted: Watched | Struck) -> None:
        self._answerer = Answerer(Player(scripts, (planted,)), Draws((), 0))  # type: ignore[arg-type]

    async def complete(self, request: Request) -> Reply:
        body = request_body(request, _SETTINGS, "reasoning_content")
        answer = self._answerer.answer(orjson.dumps(body), chat=request.wire == "chat")
        if answer.status != 200:
            raise HarnessFailure(f"the scripted agent answers {answer.status}: {answer.pieces[0][:200]!r}")
        assembler = ReplyAssembler()
        assembler.add(orjson.loads(b"".join(answer.pieces)))
        return assembler.reply()

    async def close(self) -> None:
        """Nothing is held."""


@dataclass(slots=True)
class Stage:
    """What all trials share; `real` counts those that needed a box."""

    scripts: Scripts
    provider: SandboxProvider
    memory: Memory
    real: int = 0

    async def play(self, task: Task, harness: Harness, coupling: str, luck: float) -> Entry:
        """One trial: with remembered boxes if they have the answers, else with real ones.

        Raises:
            RuntimeError: it was lost three times.
        """
        result = None
        for attempt in range(_ATTEMPTS + 1):
            boxes = Remembering(self.memory, task, self.provider.name, self.provider if attempt else None)
            planted = Struck(COUPLINGS[coupling](), luck) if coupling else Watched()
            trial = Trial(TrialKey(task.name, harness.name, REFERENCE), harness, task, LIMITS, seed=0)
            self.real += attempt > 0
            try:
                result = await run_trial(trial, InProcess(self.scripts, planted), boxes)
            except NotRemembered:
                continue
            if result.failure is None:
                return _entry(task, result, coupling, planted)
        raise RuntimeError(f"{task.name} under {harness.name} with {coupling}: {result and result.failure}")


def _entry(task: Task, result: Result, coupling: str, planted: Watched | Struck) -> Entry:
    row: dict[str, Json] = orjson.loads(recording.dump(store.row_of(replace(result, cost=0.0))))
    low, high = (planted.low, planted.high) if isinstance(planted, Struck) else (0.0, 1.0)
    below = planted.below if isinstance(planted, Watched) else {}
    return Entry(task.digest, result.harness_id, coupling, low, high, below, row)
