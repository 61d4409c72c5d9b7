"""A plain completion that goes on with a worked example: the wire of models that were never taught to chat."""

from __future__ import annotations

from harness_eval.axes.protocol.base import Protocol, Wire, results_of, shell_of
from harness_eval.axes.protocol.examples import EXAMPLES, SILENCE
from harness_eval.axes.tool import Tool
from harness_eval.types import Action, Compaction, Note, Observation, Reply, Request, Step, ToolCall, View

_MARK = "$ "


class WorkedCompletion(Protocol):
    """One command line a turn on the plain completions wire, after examples that were worked to their end.

    `trailing_blank` ends the prompt with the blank after the mark. Most tokenizers put a blank at the beginning of the
    word that follows, so such a prompt ends where none of the texts that a model has learned from ever does.
    """

    closing: str = "echo TASK_COMPLETE_7F3A"
    trailing_blank: bool = False

    def guide(self, wire: Wire) -> str:
        """What the lines mean; the examples themselves stand in the prompt."""
        del wire
        return "Below, each line that starts with '$ ' is one shell command; its output follows."

    def encode(self, view: View, wire: Wire) -> Request:
        """One prompt that ends where the next command must stand."""
        worked = [self._example(task, commands, wire) for task, commands in EXAMPLES]
        lines = ["\n\n".join([view.system, *worked, f"Task: {view.prompt}"])]
        lines += [_told(e) if isinstance(e, Note | Compaction) else self._step(e, wire) for e in view.events]
        end = _MARK if self.trailing_blank else _MARK.rstrip()
        return Request((), stop=("\n",), wire="completions", prompt="\n".join([*lines, end]))

    def _example(self, task: str, commands: tuple[str, ...], wire: Wire) -> str:
        silence = wire.frame(shell_of(wire.tools)[0], Observation(SILENCE, 0))
        shown = [f"{_MARK}{command}\n{silence}" for command in commands]
        return "\n".join([f"Task: {task}", *shown, f"{_MARK}{self.closing}", self.closing.removeprefix("echo ")])

    def _step(self, step: Step, wire: Wire) -> str:
        _, key = shell_of(wire.tools)
        parts = [f"# {step.action.text}"] if step.action.text else []
        for call, observation in results_of(step):
            command = call.arguments.get(key, "") if isinstance(call, ToolCall) else call.raw
            parts += [f"{_MARK}{command}", wire.frame(call.name, observation)]
        return "\n".join(parts)

    def carries(self, call: ToolCall) -> bool:
        """Only a command of one line."""
        return all(isinstance(v, str) and v.strip() == v and len(v.splitlines()) == 1 for v in call.arguments.values())

    def decode(self, reply: Reply, tools: tuple[Tool, ...]) -> Action:
        """The first line is the command; nothing at all is no call."""
        line = reply.text.strip().splitlines()[0] if reply.text.strip() else ""
        command = line.removeprefix(_MARK).strip()
        if not command:
            return Action("", reply.thinking)
        if command.startswith("#"):
            return Action(command.lstrip("# "), reply.thinking)
        name, key = shell_of(tools)
        return Action("", reply.thinking, (ToolCall("call_0", name, {key: command}),))


def _told(event: Note | Compaction) -> str:
    text = event.text if isinstance(event, Note) else event.notes
    return "\n".join(f"# {line}" for line in text.splitlines())
