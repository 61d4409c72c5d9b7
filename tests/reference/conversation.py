"""A task of one plan, and a conversation about it under any harness in which the test says what each call brings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from harness_eval.axes.stopping import Stop
from harness_eval.axes.tool import Outcome, find_problem
from harness_eval.harness import make_harness
from harness_eval.reference.couplings import make_couplings
from harness_eval.reference.player import Player
from harness_eval.reference.scripts import load_scripts
from harness_eval.reference.wire import Spoken, spoken
from harness_eval.types import (
    Action,
    Compaction,
    Json,
    Note,
    Observation,
    Reply,
    Request,
    Step,
    ToolCall,
    Trajectory,
    View,
)

INSTRUCTION = "Set the port in `conf/app.ini` to the one that\nthe log names, and write the host to `host.txt`.\n"
PLAN = """
done: "The port is ${port}."
steps:
  - say: "I read the log."
    run: "cat app.log"
    learn: {port: 'port=(\\d+)', host: 'host=(\\w+)'}
    otherwise: "grep port= app.log"
    goal: find
  - say: "I read the file."
    read: "conf/app.ini"
    goal: find
  - say: "I set port ${port}."
    edit: {path: "conf/app.ini", old: "port = 1\\n", new: "port = ${port}\\n"}
    goal: change
  - say: "I name ${host}."
    create: {path: "host.txt", text: "${host}\\n"}
    goal: answer
  - say: "I check both."
    run: "cat conf/app.ini host.txt"
    learn: {right: 'port = (\\d+)'}
    goal: answer
"""
LOG = "start\nhost=db7 port=8101\nend"
CONFIG = "[app]\nport = 1\nname = x"
RESULTS = (LOG, CONFIG, "edited conf/app.ini", "wrote host.txt", "port = 8101\ndb7")


def make_task(suite: Path, plan: str = PLAN, instruction: str = INSTRUCTION, name: str = "set-port") -> Path:
    """The folder of a task that has nothing but what the scripted agent reads."""
    folder = suite / name
    (folder / "solution").mkdir(parents=True)
    (folder / "instruction.md").write_text(instruction)
    (folder / "solution" / "plan.yaml").write_text(plan)
    return folder


class Conversation:
    """One trial without a box: the agent's turns, answered by the test."""

    def __init__(self, suite: Path, *, couplings: dict[str, float] | None = None, seed: int = 0, **levels: Any) -> None:
        self.player = Player(load_scripts([suite]), make_couplings(couplings or {}))
        self.harness = make_harness({"name": "tried", **levels}, "tried")
        self.seed = seed
        self.record = Trajectory(self.harness.system, INSTRUCTION)
        self.stopped = False
        self.carried_out: list[ToolCall] = []

    def ask(self, view: View | None = None) -> Action:
        """What the agent does at this point of the record."""
        request = self.harness.encode(view or self.harness.view(self.record))
        return self.harness.decode(reply_of(self.sent(request)))

    def sent(self, request: Request) -> Spoken:
        if request.wire == "completions":
            body = {"prompt": request.prompt, "seed": self.seed, "stop": list(request.stop)}
            return spoken(self.player.complete(body), body)
        body = {"messages": list(request.messages), "tools": list(request.tools), "seed": self.seed}
        return spoken(self.player.reply(body), body)

    def turn(self, result: str, *, failed: bool = False, instead: str | None = None) -> Action:
        """One turn whose calls bring this result, or another where the turn is no work on the task.

        A call that the harness cannot carry out gets the harness's own answer instead.
        """
        self.record = self.record.append(*self.harness.notes(self.record))
        action = self.ask()
        shown = result if instead is None or is_work(action) else instead
        observations = [self._observed(call, Observation(shown, len(shown), failed)) for call in action.calls]
        observations += [Observation("Error: it cannot be read", 0, True)] * len(action.malformed)
        self.record = self.record.append(Step(action, tuple(observations)))
        verdict = self.harness.stopping.judge(self.record)
        self.stopped = verdict is Stop.FINISHED
        if isinstance(verdict, Note):
            self.record = self.record.append(verdict)
        return action

    def _observed(self, call: ToolCall, observation: Observation) -> Observation:
        wanted = self.harness.faults.before(call, 0, self.harness.tools)
        if isinstance(wanted, Outcome):
            return Observation(wanted.text, len(wanted.text), wanted.failed)
        problem = find_problem(self.harness.tools, wanted.name, wanted.arguments)
        if problem and not observation.failed:
            said = self.harness.errors.word(problem.text, self.harness.tools)
            return Observation(said, len(said), True)
        self.carried_out.append(call)
        return observation

    def play(self, *results: str, most: int = 40) -> list[Action]:
        """Turns until the harness stops the agent. Work gets these results in order, everything else a word."""
        left = list(results or RESULTS)
        word = str(self.harness.stopping.model_dump().get("word", "noted"))
        actions: list[Action] = []
        while not self.stopped and len(actions) < most:
            before = len(self.carried_out)
            actions.append(self.turn(left[0] if left else word, instead=word))
            if left and is_work(actions[-1]) and len(self.carried_out) > before:
                left.pop(0)
        return actions

    def compact(self) -> str:
        """Let the agent write a summary of everything so far, as the harness would."""
        context = self.harness.context
        view = self.harness.view(self.record)
        wanted = View(view.system, view.prompt, (*view.events, Note(context.summary_request, "summary-request")))
        notes = self.ask(wanted).text
        self.record = self.record.append(Compaction(context.covers(self.record), notes))
        return notes


def is_work(action: Action) -> bool:
    """Whether a turn does a step of the plan, rather than a list, an end or words."""
    said = [action.text, *(str(value) for call in action.calls for value in call.arguments.values())]
    return any(re.search(r"(?<!is )(?<!at )\b[Ss]tep \d", text) for text in said)


def reply_of(sent: Spoken) -> Reply:
    return Reply(sent.text, sent.thinking or None, sent.calls, sent.finish_reason)


def tools_of(harness_levels: dict[str, Json]) -> list[dict[str, Json]]:
    """What a native harness of these levels offers."""
    harness = make_harness({"name": "offering", **harness_levels}, "offering")
    return list(harness.encode(View(harness.system, "task")).tools)
