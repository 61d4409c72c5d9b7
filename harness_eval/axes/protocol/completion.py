"""A plain completion that goes on with a worked example: the wire of models that were never taught to chat."""

from __future__ import annotations

from harness_eval.axes.protocol.base import Protocol, Wire, results_of
from harness_eval.axes.protocol.text import shell_of
from harness_eval.axes.tool import Tool
from harness_eval.types import Action, Compaction, Note, Reply, Request, Step, ToolCall, View

_MARK = "$ "
_EXAMPLE = """Task: Create a file named greeting.txt that contains the word hello.
$ echo hello > greeting.txt
[no output]
$ cat greeting.txt
hello
$ {closing}
{word}"""


class WorkedCompletion(Protocol):
    """One command line a turn on the plain completions wire, after an example that was worked to its end."""

    closing: str = "echo TASK_COMPLETE_7F3A"

    def guide(self, wire: Wire) -> str:
        """What the lines mean; the example itself stands in the prompt."""
        del wire
        return "Below, each line that starts with '$ ' is one shell command; its output follows."

    def encode(self, view: View, wire: Wire) -> Request:
        """One prompt that ends where the next command must stand."""
        example = _EXAMPLE.format(closing=self.closing, word=self.closing.removeprefix("echo "))
        lines = ["\n\n".join([view.system, example, f"Task: {view.prompt}"])]
        lines += [_told(e) if isinstance(e, Note | Compaction) else self._step(e, wire) for e in view.events]
        return Request((), stop=("\n",), wire="completions", prompt="\n".join([*lines, _MARK.rstrip()]) + " ")

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
