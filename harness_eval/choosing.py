"""Which harnesses a study means: those of its family and those that are named, of levels and external ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness_eval.config import read_yaml
from harness_eval.design import Plan, plan_harnesses
from harness_eval.errors import ConfigError, nearest
from harness_eval.external.adapter import External, load_external, named_externals
from harness_eval.family import load_family
from harness_eval.harness import Harness, canonical, check_distinct, load_harness, named_harnesses
from harness_eval.study_file import StudyConfig

_OF_EXTERNALS = {"launch", "install", "wire"}


def chosen_harnesses(config: StudyConfig) -> tuple[Plan, tuple[External, ...]]:
    """The harnesses of levels, the canonical one first, and the external ones; none of them twice.

    Raises:
        ConfigError: one does not exist or is wrong, two that differ have one name, or the study is one that external
            harnesses cannot take part in.
    """
    named = [load_any_harness(name) for name in config.harnesses]
    plan = _plan(config, [each for each in named if isinstance(each, Harness)])
    externals = _externals(plan, [each for each in named if isinstance(each, External)])
    if externals and config.allocate == "hunt":
        raise ConfigError(f"allocate: a hunt is for harnesses of levels, and {externals[0].name} has none")
    return plan, externals


def load_any_harness(name_or_path: str) -> Harness | External:
    """A harness of levels or an external one, by its name or from a YAML file; a file of the latter says how to launch.

    Raises:
        ConfigError: if there is none of that name, or the file is wrong.
    """
    path = Path(name_or_path)
    if path.suffix in (".yaml", ".yml") and path.is_file():
        return load_external(path) if _OF_EXTERNALS & read_yaml(path).keys() else load_harness(name_or_path)
    known, outside = named_harnesses(), named_externals()
    if path.suffix not in (".yaml", ".yml") and "/" not in name_or_path and name_or_path not in {*known, *outside}:
        hint = nearest(name_or_path, [*known, *outside])
        raise ConfigError(f"no harness {name_or_path!r}; {hint}; or give the path of a YAML file")
    return load_external(name_or_path) if name_or_path in outside.keys() - known else load_harness(name_or_path)


def _plan(config: StudyConfig, named: Sequence[Harness]) -> Plan:
    plan = Plan((canonical(),))
    if config.family is not None:
        plan = plan_harnesses(load_family(config.family), config.design, config.seed)
    chosen, notes = list(plan.harnesses), list(plan.notes)
    for harness in named:
        same = next((each for each in chosen if each.id == harness.id), None)
        if same is None:
            chosen.append(harness)
        elif same.name != harness.name:
            notes.append(f"harness {harness.name} is left out: it is the same as {same.name}")
    check_distinct(chosen)
    return replace(plan, harnesses=tuple(chosen), notes=tuple(notes))


def _externals(plan: Plan, named: Sequence[External]) -> tuple[External, ...]:
    taken: dict[str, str] = {harness.name: harness.id for harness in plan.harnesses}
    chosen: dict[str, External] = {}
    for external in named:
        if taken.setdefault(external.name, external.id) != external.id:
            raise ConfigError(f"harnesses: two of them have the name {external.name!r}; each needs its own")
        chosen.setdefault(external.name, external)
    return tuple(chosen.values())
