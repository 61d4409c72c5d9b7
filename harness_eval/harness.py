"""A harness is one level on each axis; everything that a model sees of it follows from them."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, SerializeAsAny, field_validator, model_validator

from harness_eval import bundled
from harness_eval.axes import (
    Context,
    Description,
    Distractors,
    Errors,
    Faults,
    Level,
    Planning,
    Prompt,
    Protocol,
    Results,
    Shell,
    Stopping,
    Thinking,
    Toolset,
    Truncation,
    axes,
    make_level,
)
from harness_eval.axes.protocol import Wire
from harness_eval.axes.tool import Tool
from harness_eval.combinations import RULES, broken_rule
from harness_eval.config import parse, read_yaml
from harness_eval.errors import ConfigError, nearest
from harness_eval.types import Action, Malformed, Note, Reply, Request, ToolCall, Trajectory, View

CANONICAL: dict[str, str] = {
    "protocol": "native",
    "description": "json-schema",
    "toolset": "shell-and-editor",
    "distractors": "alone",
    "truncation": "middle",
    "context": "full",
    "thinking": "keep",
    "planning": "unplanned",
    "stopping": "no-call",
    "results": "tool-message",
    "errors": "explain",
    "shell": "fresh",
    "prompt": "short",
    "faults": "fault-free",
}
"""The level that each axis has unless a harness says otherwise."""


_TOO_DEEP = "the call is nested too deeply"


class Harness(BaseModel):
    """One level on each axis, with a name, a version, and a word on what it stands for.

    Raises:
        ValueError: (as ConfigError through `parse`) for levels that cannot go together.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    version: str = "1"
    about: str = ""
    protocol: SerializeAsAny[Protocol]
    description: SerializeAsAny[Description]
    toolset: SerializeAsAny[Toolset]
    distractors: SerializeAsAny[Distractors]
    truncation: SerializeAsAny[Truncation]
    context: SerializeAsAny[Context]
    thinking: SerializeAsAny[Thinking]
    planning: SerializeAsAny[Planning]
    stopping: SerializeAsAny[Stopping]
    results: SerializeAsAny[Results]
    errors: SerializeAsAny[Errors]
    shell: SerializeAsAny[Shell]
    prompt: SerializeAsAny[Prompt]
    faults: SerializeAsAny[Faults]

    @model_validator(mode="before")
    @classmethod
    def _settled(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        chosen = {axis: make_level(axis, data[axis]) for axis in CANONICAL if axis in data}
        levels = {axis: chosen.get(axis) or make_level(axis, name) for axis, name in CANONICAL.items()}
        for rule in RULES:
            if rule.forced and rule.other not in chosen and rule.forbids(levels):
                levels[rule.other] = make_level(rule.other, rule.forced)
        return {**data, **levels}

    @field_validator("version", mode="before")
    @classmethod
    def _text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int | float) else value

    @field_validator("name")
    @classmethod
    def _plain(cls, value: str) -> str:
        if not value or "/" in value or value != value.strip():
            raise ValueError(f"name {value!r} must be plain text without '/'")
        return value

    @model_validator(mode="after")
    def _possible(self) -> Harness:
        rule = broken_rule(self.levels)
        if rule:
            first, other = getattr(self, rule.axis).level_name(), getattr(self, rule.other).level_name()
            raise ValueError(f"{rule.axis} {first} cannot go with {rule.other} {other}: {rule.reason}")
        return self

    @property
    def levels(self) -> dict[str, Level]:
        """The level on each axis."""
        return {axis: getattr(self, axis) for axis in axes()}

    @property
    def labels(self) -> dict[str, str]:
        """The label of the level on each axis."""
        return {axis: level.label for axis, level in self.levels.items()}

    def spec(self) -> dict[str, Any]:
        """The harness as canonical JSON; `Harness.model_validate` reads it back."""
        levels = {axis: level.spec() for axis, level in self.levels.items()}
        return {"name": self.name, "version": self.version, "about": self.about, **levels}

    @cached_property
    def id(self) -> str:
        """Twelve hexadecimal digits over all levels and parameters: equal ids mean equal harnesses."""
        levels = {axis: level.spec() for axis, level in self.levels.items()}
        return hashlib.sha256(orjson.dumps(levels, option=orjson.OPT_SORT_KEYS)).hexdigest()[:12]

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """All tools that are offered."""
        tools: tuple[Tool, ...] = ()
        for level in self.levels.values():
            tools = level.amend(tools)
        return tools

    @cached_property
    def wire(self) -> Wire:
        """What the protocol needs of the other axes."""
        return Wire(self.tools, self.description.render(self.tools), self.results.frame)

    @cached_property
    def system(self) -> str:
        """The system prompt."""
        others = [level.instructions() for axis, level in self.levels.items() if axis not in {"prompt", "protocol"}]
        parts = [self.prompt.instructions(), self.protocol.guide(self.wire), *others]
        return "\n\n".join(part for part in parts if part)

    def view(self, record: Trajectory) -> View:
        """What is shown of a record."""
        view = View(record.system, record.prompt, record.events)
        for level in self.levels.values():
            view = level.view(view)
        return view

    def notes(self, record: Trajectory) -> tuple[Note, ...]:
        """What the harness says before the next request."""
        return tuple(note for level in self.levels.values() for note in level.notes(record))

    def encode(self, view: View) -> Request:
        """The request for a view."""
        return self.protocol.encode(view, self.wire)

    def decode(self, reply: Reply) -> Action:
        """The action that a reply means, without halves of characters, which no later request could carry."""
        try:
            return self._decoded(reply)
        except (RecursionError, MemoryError):  # nesting beyond what can be read: for the model to hear of
            bad = [Malformed(c.id, c.name, "", _TOO_DEEP) for c in reply.calls] or [Malformed("", "", "", _TOO_DEEP)]
            return Action("", reply.thinking, (), tuple(bad))

    def _decoded(self, reply: Reply) -> Action:
        action = self.protocol.decode(reply, self.tools)
        calls = tuple(ToolCall(c.id, well_formed(c.name), well_formed(dict(c.arguments))) for c in action.calls)
        malformed = tuple(
            dataclasses.replace(m, name=well_formed(m.name), raw=well_formed(m.raw), reason=well_formed(m.reason))
            for m in action.malformed
        )
        return Action(well_formed(action.text), well_formed(action.thinking), calls, malformed)

    def acted(self, record: Trajectory) -> tuple[str, ...]:
        """The axes whose level made a difference to what the model saw in this record."""
        silent = {"description"} if self.protocol.native else set()
        return tuple(axis for axis, level in self.levels.items() if axis not in silent and level.acted(record))


def well_formed(value: Any) -> Any:
    """A JSON value whose texts hold no lone surrogates: they become question marks."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {well_formed(key): well_formed(each) for key, each in value.items()}
    return [well_formed(each) for each in value] if isinstance(value, list) else value


def named_harnesses() -> dict[str, Path]:
    """The harnesses that travel with the package, by name."""
    root = bundled.folder("harnesses")
    files = [root / "canonical.yaml", *sorted((root / "presets").glob("*.yaml"))]
    return {path.stem: path for path in files if path.is_file()}


def load_harness(name_or_path: str | Path) -> Harness:
    """A harness by its name, or from a YAML file anywhere.

    Raises:
        ConfigError: if there is none of that name, or the file does not hold a harness.
    """
    known = named_harnesses()
    given = str(name_or_path)
    if given in known:
        path = known[given]
    elif given.endswith((".yaml", ".yml")) or "/" in given:
        path = Path(given)
    else:
        raise ConfigError(f"no harness {given!r}; {nearest(given, known)}; or give the path of a YAML file")
    data = read_yaml(path)
    return make_harness({"name": path.stem, **data}, str(path))


def make_harness(data: Mapping[str, Any], where: str) -> Harness:
    """A harness from its YAML form.

    Raises:
        ConfigError: naming `where` and the key.
    """
    try:
        return parse(Harness, dict(data), where)
    except ConfigError as error:
        raise error if str(error).startswith(where) else ConfigError(f"{where}: {error}") from None


def canonical() -> Harness:
    """The regression reference."""
    return load_harness("canonical")


def check_distinct(harnesses: Iterable[Harness]) -> None:
    """Refuse two harnesses of one name.

    Raises:
        ConfigError: naming the first name that stands twice.
    """
    seen: set[str] = set()
    for harness in harnesses:
        if harness.name in seen:
            raise ConfigError(f"two harnesses are named {harness.name!r}")
        seen.add(harness.name)
