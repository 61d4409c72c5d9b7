"""solution/plan.yaml: how a scripted agent works through a task with whatever tools it is offered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, cast

from harness_eval.config import read_yaml
from harness_eval.errors import ConfigError, nearest
from harness_eval.types import Json

Kind: TypeAlias = Literal["run", "read", "create", "edit"]

_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "run": ("command",),
    "read": ("path",),
    "create": ("path", "text"),
    "edit": ("path", "old", "new"),
}
_OPTIONAL = ("learn", "otherwise", "goal")
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One turn. `arguments` holds: run command; read path; create path, text; edit path, old, new.

    `learn` maps a name to a regex of one group, searched with re.MULTILINE in what the step's result shows; where one
    does not match, the narrower command `otherwise` is run and searched instead. `goal` names the sub-goal served.
    """

    say: str
    kind: Kind
    arguments: Mapping[str, str]
    learn: Mapping[str, str] = field(default_factory=dict)
    otherwise: str | None = None
    goal: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps in order, and the sentence said at the end."""

    steps: tuple[PlanStep, ...]
    done: str

    @property
    def goals(self) -> tuple[str, ...]:
        """The sub-goals in the order in which they are first served."""
        return tuple(dict.fromkeys(step.goal for step in self.steps if step.goal))


def fill(text: str, learned: Mapping[str, str]) -> str:
    """The text with each `${name}` replaced by what was learned; a KeyError where that was not learned."""
    return _REFERENCE.sub(lambda match: learned[match.group(1)], text)


def load_plan(path: Path) -> Plan:
    """Read and check a plan.

    Raises:
        ConfigError: the file is missing or broken, a key is unknown, a regex is wrong, or `${name}` is used before a
            step learned it; names the file and the step.
    """
    if not path.exists():
        raise ConfigError(f"{path}: missing")
    document = read_yaml(path)
    _refuse_unknown(document, ("done", "steps"), str(path))
    done, steps = document.get("done"), document.get("steps")
    if not isinstance(done, str) or not done.strip():
        raise ConfigError(f"{path}: done: expected the sentence said at the end")
    if not isinstance(steps, list) or len(steps) < 2:
        raise ConfigError(f"{path}: steps: expected a list of at least 2 steps")
    plan = Plan(tuple(_step(step, f"{path}: step {at}") for at, step in enumerate(steps, 1)), done)
    _refuse_unlearned(plan, path)
    return plan


def _step(step: Json, where: str) -> PlanStep:
    if not isinstance(step, dict):
        raise ConfigError(f"{where}: expected keys such as say and run, not {type(step).__name__}")
    _refuse_unknown(step, ("say", *_ARGUMENTS, *_OPTIONAL), where)
    kinds = [kind for kind in _ARGUMENTS if kind in step]
    if len(kinds) != 1:
        found = ", ".join(kinds) or "none"
        raise ConfigError(f"{where}: expected exactly one of {', '.join(_ARGUMENTS)}; found {found}")
    if "say" not in step:
        raise ConfigError(f"{where}: say: missing")
    for key in ("say", "otherwise", "goal"):
        if key in step:
            _require_text(step[key], f"{where}: {key}")
    if "otherwise" in step and "learn" not in step:
        raise ConfigError(f"{where}: otherwise is only used when a regex of learn did not match; there is no learn")
    return PlanStep(
        say=step["say"],
        kind=cast(Kind, kinds[0]),
        arguments=_arguments(kinds[0], step[kinds[0]], f"{where}: {kinds[0]}"),
        learn=_learn(step.get("learn", {}), f"{where}: learn"),
        otherwise=step.get("otherwise"),
        goal=step.get("goal"),
    )


def _arguments(kind: str, value: Json, where: str) -> dict[str, str]:
    names = _ARGUMENTS[kind]
    if len(names) == 1:
        return {names[0]: _require_text(value, where)}
    if not isinstance(value, dict):
        raise ConfigError(f"{where}: expected the keys {', '.join(names)}")
    _refuse_unknown(value, names, where)
    if missing := [name for name in names if name not in value]:
        raise ConfigError(f"{where}: {', '.join(missing)}: missing")
    may_be_empty = ("text", "new")
    return {name: _require_text(value[name], f"{where}.{name}", empty=name in may_be_empty) for name in names}


def _learn(value: Json, where: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ConfigError(f"{where}: expected names with a regex each")
    for name, pattern in value.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ConfigError(f"{where}: {name!r} is no name made of letters, digits and underscores")
        try:
            groups = re.compile(_require_text(pattern, f"{where}.{name}"), re.MULTILINE).groups
        except (re.error, RecursionError, OverflowError) as error:
            raise ConfigError(f"{where}.{name}: bad regex {pattern[:80]!r}: {error}") from error
        if groups != 1:
            raise ConfigError(f"{where}.{name}: the regex {pattern!r} has {groups} groups, expected exactly one")
    return dict(value)


def _require_text(value: Json, where: str, *, empty: bool = False) -> str:
    if not isinstance(value, str) or not (value or empty):
        raise ConfigError(f"{where}: expected a text, not {value!r}")
    return value


def _refuse_unknown(found: Mapping[str, Json], known: tuple[str, ...], where: str) -> None:
    for key in found:
        if key not in known:
            raise ConfigError(f"{where}: unknown key {key!r}; {nearest(str(key), known)}")


def _refuse_unlearned(plan: Plan, path: Path) -> None:
    learned: set[str] = set()
    for at, step in enumerate(plan.steps, 1):
        for text in (*step.arguments.values(), step.otherwise or "", step.say):
            _refuse_unlearned_in(text, learned, f"{path}: step {at}")
        learned.update(step.learn)
    _refuse_unlearned_in(plan.done, learned, f"{path}: done")


def _refuse_unlearned_in(text: str, learned: set[str], where: str) -> None:
    for name in _REFERENCE.findall(text):
        if name not in learned:
            hint = nearest(name, learned) if learned else "nothing is learned before it"
            raise ConfigError(f"{where}: ${{{name}}} is used but no earlier step learns it; {hint}")
