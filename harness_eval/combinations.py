"""Combinations of levels that cannot exist, each declared once with its reason, and the choices that others force."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness_eval.axes import Level, Protocol
from harness_eval.axes import levels as known_levels
from harness_eval.axes.protocol import FencedBash, WorkedCompletion
from harness_eval.axes.toolset import Toolset

Test = Callable[[Level], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """Levels of `axis` that pass `test` cannot go with levels of `other` that pass `other_test`.

    `forced` is what `other` becomes when it was not chosen on purpose.
    """

    axis: str
    test: Test
    other: str
    other_test: Test
    reason: str
    forced: str = ""

    def forbids(self, levels: Mapping[str, Level]) -> bool:
        """Whether these levels, one an axis, break the rule."""
        return self.test(levels[self.axis]) and self.other_test(levels[self.other])


def _native(level: Level) -> bool:
    return isinstance(level, Protocol) and level.native


def _text(level: Level) -> bool:
    return not _native(level)


def _command_only(level: Level) -> bool:
    return isinstance(level, FencedBash | WorkedCompletion)


def named(*names: str) -> Test:
    """A test for levels of these names."""
    return lambda level: level.level_name() in names


def _not_named(*names: str) -> Test:
    return lambda level: level.level_name() not in names


def _without_shell(level: Level) -> bool:
    return isinstance(level, Toolset) and not any(spec.operation in {"shell", "shells"} for spec in level.work_tools())


def _more_than_a_shell(level: Level) -> bool:
    return isinstance(level, Toolset) and [spec.operation for spec in level.work_tools()] != ["shell"]


RULES: tuple[Rule, ...] = (
    Rule(
        "protocol",
        _text,
        "results",
        named("tool-message"),
        "a text protocol has no tool role: its results come back in user messages",
        forced="user-message",
    ),
    Rule(
        "protocol",
        _native,
        "results",
        named("user-message"),
        "a native call must be answered in the tool role",
        forced="tool-message",
    ),
    Rule(
        "protocol",
        _native,
        "description",
        _not_named("json-schema"),
        "native tools travel as JSON Schema beside the messages",
        forced="json-schema",
    ),
    Rule(
        "protocol",
        _command_only,
        "description",
        _not_named("json-schema"),
        "a bare command is the only tool, so no tool is described",
        forced="json-schema",
    ),
    Rule(
        "protocol",
        _command_only,
        "toolset",
        _more_than_a_shell,
        "a turn carries a shell command and nothing else",
        forced="shell-only",
    ),
    Rule(
        "protocol",
        _command_only,
        "stopping",
        _not_named("sentinel"),
        "every turn must hold a command, so only a command can end the work",
        forced="sentinel",
    ),
    Rule(
        "protocol",
        _command_only,
        "planning",
        named("todo", "plan-field"),
        "a bare command has no place for a todo list or a plan field",
    ),
    Rule(
        "protocol",
        _command_only,
        "distractors",
        _not_named("alone"),
        "a bare command can call no tool but the shell",
        forced="alone",
    ),
    Rule(
        "protocol",
        _command_only,
        "faults",
        named("incompatible-schema"),
        "a bare command has no parameter whose name could be wrong",
    ),
    Rule(
        "protocol",
        named("worked-completion"),
        "planning",
        named("plan-first"),
        "a completion that goes on after a prompt of commands is a command, not a plan",
    ),
    Rule(
        "protocol",
        named("worked-completion"),
        "context",
        named("summary"),
        "a completion of one line can't hold a summary",
    ),
    Rule(
        "protocol",
        named("worked-completion"),
        "thinking",
        _not_named("keep"),
        "a plain completion has no reasoning to drop",
        forced="keep",
    ),
    Rule(
        "stopping",
        named("sentinel"),
        "toolset",
        _without_shell,
        "the sentinel is a shell command, and this toolset has no shell",
    ),
)


def broken_rule(levels: Mapping[str, Level]) -> Rule | None:
    """The first rule that these levels, one an axis, break."""
    return next((rule for rule in RULES if rule.forbids(levels)), None)


def forced_axes(levels: Mapping[str, Level]) -> set[str]:
    """The axes whose level follows from another axis here, so that they were not varied on their own."""
    return {
        rule.other
        for rule in RULES
        if rule.forced and rule.test(levels[rule.axis]) and levels[rule.other].level_name() == rule.forced
    }


def excluded(levels: Mapping[str, Level]) -> list[tuple[str, str, str]]:
    """What the levels of a harness rule out: its own level, the levels of the other axis, and the reason."""
    found = []
    for rule in RULES:
        if rule.test(levels[rule.axis]):
            others = [name for name, kind in known_levels(rule.other).items() if _fails(rule, kind)]
            if others:
                mine = f"{rule.axis} {levels[rule.axis].level_name()}"
                found.append((mine, f"{rule.other} {', '.join(others)}", rule.reason))
    return found


def _fails(rule: Rule, kind: type[Level]) -> bool:
    """Whether every level of this kind breaks the rule; one that needs parameters may or may not."""
    needs = any(field.is_required() for field in kind.model_fields.values())
    return not needs and rule.other_test(kind())
