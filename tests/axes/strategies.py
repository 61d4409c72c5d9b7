"""What the laws draw from: levels, harnesses, records and calls, over everything that is registered."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from harness_eval.axes import Level, axes, levels, make_level
from harness_eval.axes.tool import Parameter, Tool
from harness_eval.errors import ConfigError
from harness_eval.harness import Harness, make_harness
from harness_eval.types import (
    Action,
    Compaction,
    Event,
    Malformed,
    Note,
    Observation,
    Step,
    ToolCall,
    Trajectory,
    Usage,
)

CUSTOM = {
    "level": "custom",
    "tools": [
        {
            "name": "Sh",
            "operation": "shell",
            "description": "Run a command.",
            "parameters": {"line": {"role": "command", "description": "The command."}},
        }
    ],
}


NEEDS_PARAMETERS: dict[str, Any] = {"custom": CUSTOM, "verbatim": {"level": "verbatim", "text": "Do the task."}}


def simple_levels(axis: str) -> list[Level]:
    """Each level of an axis, with its default parameters."""
    given: list[Any] = []
    for name, kind in levels(axis).items():
        needs = any(field.is_required() for field in kind.model_fields.values())
        given.append(NEEDS_PARAMETERS[name] if needs else name)
    return [make_level(axis, each) for each in given]


ALL_LEVELS = [level for axis in axes() for level in simple_levels(axis)]
VIEWING = [level for level in ALL_LEVELS if type(level).view is not Level.view]


@st.composite
def harnesses(draw: st.DrawFn) -> Harness:
    """Any possible harness; impossible draws are settled by leaving axes canonical."""
    choices: dict[str, Level] = {}
    for axis in draw(st.permutations(axes())):
        level = draw(st.sampled_from(simple_levels(axis)))
        try:
            make_harness({"name": "drawn", **choices, axis: level}, "drawn")
        except ConfigError:
            continue
        choices[axis] = level
    return make_harness({"name": "drawn", **choices}, "drawn")


_WORDS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=30)
TEXT = st.one_of(_WORDS, st.lists(_WORDS, max_size=4).map("\n".join))


def value_of(parameter: Parameter) -> st.SearchStrategy[Any]:
    """A value that fits a parameter."""
    if parameter.choices:
        return st.sampled_from(parameter.choices)
    numbers = st.integers(-1000, 1000)
    objects = st.dictionaries(st.sampled_from(["content", "status", "old"]), st.one_of(TEXT, numbers), max_size=2)
    item = {"integer": numbers, "object": objects}.get((parameter.items or {}).get("type", "string"), TEXT)
    lists = st.lists(item, max_size=3)
    return {
        "string": TEXT,
        "integer": numbers,
        "number": numbers,
        "boolean": st.booleans(),
        "array": lists,
        "object": st.dictionaries(st.sampled_from(["a", "b"]), TEXT, max_size=2),
    }[parameter.type]


@st.composite
def calls(draw: st.DrawFn, tools: tuple[Tool, ...]) -> ToolCall:
    """A call that fits one of the tools."""
    tool = draw(st.sampled_from(tools))
    chosen = [p for p in tool.parameters if p.required or draw(st.booleans())]
    return ToolCall(f"call_{draw(st.integers(0, 3))}", tool.name, {p.name: draw(value_of(p)) for p in chosen})


@st.composite
def records(draw: st.DrawFn, harness: Harness) -> Trajectory:
    """A record as this harness could have made it; each step and observation carries a mark of its own."""
    events: list[Event] = []
    for number in range(draw(st.integers(0, 9))):
        kind = draw(st.sampled_from(["step", "step", "step", "note", "compaction"]))
        if kind == "note":
            events.append(Note(f"note {number}", "nudge"))
        elif kind == "compaction":
            covers = harness.context.covers(Trajectory("", "", tuple(events)))
            events.append(Compaction(covers, f"notes {number}"))
        else:
            events.append(_step(draw, harness, number))
    return Trajectory("system prompt", "the task", tuple(events))


def _step(draw: st.DrawFn, harness: Harness, number: int) -> Step:
    wanted = tuple(draw(calls(harness.tools)) for _ in range(draw(st.integers(0, 2))))
    bad = tuple(Malformed("", "", "broken", "it is broken") for _ in range(draw(st.integers(0, 1))))
    marks = tuple(Observation(f"mark-{number}-{i}-end", 20) for i in range(len(wanted) + len(bad)))
    thinking = draw(st.sampled_from([None, "", "I think"]))
    action = Action(draw(st.sampled_from(["", "said"])), thinking, wanted, bad)
    return Step(action, marks, Usage(10, 5), digest=f"step-{number}")
