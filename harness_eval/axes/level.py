"""A level is a class that is data: deriving registers it, its fields are its parameters, its docstring documents it.

Each axis is one class that derives from `Level` and names itself in `axis`; each of its levels derives from that.
The sockets below are what every axis may use; an axis class adds the few that only it has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from inspect import isabstract
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from harness_eval.axes.tool import Tool
from harness_eval.config import parse
from harness_eval.errors import ConfigError, nearest
from harness_eval.types import Note, Trajectory, View

_LEVELS: dict[str, dict[str, type[Level]]] = {}
_LARGEST = 2**53  # beyond it a number is not the same in every JSON reader


def kebab(name: str) -> str:
    """A class name as it is written in YAML: `JsonText` becomes `json-text`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


class Level(BaseModel):
    """One way for a harness to be, on one axis."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    axis: ClassVar[str] = ""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Register the class as an axis (when it names one) or as a level of the axis that it derives from."""
        super().__pydantic_init_subclass__(**kwargs)
        if "axis" in cls.__dict__:
            _LEVELS.setdefault(cls.axis, {})
        elif not isabstract(cls):
            _LEVELS[cls.axis][kebab(cls.__name__)] = cls

    def __hash__(self) -> int:
        # Parameters may hold mappings, which have no hash of their own.
        return hash(json.dumps(self.spec(), sort_keys=True))

    @classmethod
    def level_name(cls) -> str:
        """The level's name in YAML."""
        return kebab(cls.__name__)

    @classmethod
    def documentation(cls) -> str:
        """The level's docstring on one line."""
        return " ".join((cls.__doc__ or "").split())

    @property
    def label(self) -> str:
        """Name and those parameters that differ from their defaults, such as `head(cap=16000)`."""
        changed = {
            key: getattr(self, key)
            for key, field in type(self).model_fields.items()
            if getattr(self, key) != field.get_default(call_default_factory=True)
        }
        inner = ", ".join(f"{key}={_short(value)}" for key, value in changed.items())
        return f"{self.level_name()}({inner})" if inner else self.level_name()

    def spec(self) -> dict[str, Any]:
        """The level as canonical JSON: its name and all its parameters."""
        return {"level": self.level_name(), **self.model_dump(mode="json")}

    def instructions(self) -> str:
        """What this level adds to the system prompt."""
        return ""

    def amend(self, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        """The offered tools after this level had its say."""
        return tools

    def view(self, view: View) -> View:
        """What of the record is shown; never reorders steps, never invents one."""
        return view

    def notes(self, record: Trajectory) -> tuple[Note, ...]:
        """What the harness says before the next request."""
        del record
        return ()

    def acted(self, record: Trajectory) -> bool:
        """Whether this level made a difference to what the model saw in this record.

        By default a level that changes views acted if it changes this one, and any other acted by being there.
        """
        if type(self).view is Level.view:
            return True
        seen = View(record.system, record.prompt, record.events[:-1])
        return self.view(seen) != seen


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 24 else f"{text[:21]}..."


def axes() -> tuple[str, ...]:
    """The names of all axes, in the order of a harness's fields."""
    return tuple(_LEVELS)


def levels(axis: str) -> dict[str, type[Level]]:
    """The levels of an axis by name, in the order in which they were defined.

    Raises:
        ConfigError: if there is no such axis.
    """
    if axis not in _LEVELS:
        raise ConfigError(f"no axis {axis!r}; {nearest(axis, _LEVELS)}")
    return dict(_LEVELS[axis])


def make_level(axis: str, spec: str | dict[str, Any] | Level, where: str = "") -> Level:
    """A level from its YAML form: a name, or a mapping with `level` and its parameters.

    Raises:
        ConfigError: for an unknown level or parameter, or a value that does not fit; names `where` and the key.
    """
    if isinstance(spec, Level):
        return spec
    if not isinstance(spec, str | Mapping):
        raise ConfigError(f"{f'{where}: ' if where else ''}{axis}: a level's name or a mapping is wanted, not {spec!r}")
    data = {"level": spec} if isinstance(spec, str) else dict(spec)
    name = data.pop("level", None)
    known = levels(axis)
    prefix = f"{where}: " if where else ""
    if not isinstance(name, str) or name not in known:
        raise ConfigError(f"{prefix}{axis}: unknown level {name!r}; {nearest(str(name), known)}")
    for key, value in data.items():
        if isinstance(value, int) and abs(value) > _LARGEST:
            raise ConfigError(f"{prefix}{axis}.{name}.{key}: {value} is too large a number")
    return parse(known[name], data, f"{prefix}{axis}.{name}")
