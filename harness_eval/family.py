"""A family: which axes vary, over which levels, with which weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from harness_eval import bundled
from harness_eval.axes import Level, axes, levels, make_level
from harness_eval.combinations import RULES, Rule, named
from harness_eval.config import parse, read_yaml
from harness_eval.errors import ConfigError, nearest
from harness_eval.harness import CANONICAL, canonical


class Family(BaseModel):
    """The axes that vary and their levels; every axis not named stays canonical.

    The canonical level of an axis always belongs to it, and stands first. `weights` give the share of each level of
    an axis in random designs, in the order of `axes`, equal where they are not given. `exclude` holds pairs of levels
    that this family leaves out, each as two axes with the name of a level, and a `reason`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    name: str
    version: str = "1"
    about: str = ""
    axes: dict[str, tuple[Level, ...]] = Field(min_length=1)
    weights: dict[str, tuple[float, ...]] = {}
    exclude: tuple[dict[str, str], ...] = ()

    @field_validator("axes", mode="before")
    @classmethod
    def _made(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        reference = canonical().levels
        made: dict[str, tuple[Level, ...]] = {}
        for axis, given in value.items():
            if axis not in reference:
                raise ConfigError(f"axes: no axis {axis!r}; {nearest(str(axis), reference)}")
            if not isinstance(given, Sequence) or isinstance(given, str) or not given:
                raise ConfigError(f"axes.{axis}: a list of levels is wanted")
            each = [make_level(axis, level, f"axes.{axis}[{place}]") for place, level in enumerate(given)]
            made[axis] = tuple(dict.fromkeys([reference[axis], *each]))
        return {axis: made[axis] for axis in axes() if axis in made}

    @model_validator(mode="after")
    def _weighted(self) -> Family:
        for axis, weights in self.weights.items():
            count = len(self.axes.get(axis, ()))
            if len(weights) != count or min(weights) < 0 or not sum(weights):
                raise ValueError(f"weights.{axis}: {count} numbers from 0 up are wanted, one for each level")
        return self

    @model_validator(mode="after")
    def _excluded(self) -> Family:
        for place, pair in enumerate(self.exclude):
            named = {axis: name for axis, name in pair.items() if axis != "reason"}
            if len(named) != 2:
                raise ValueError(f"exclude[{place}]: two axes are wanted, each with the name of a level")
            for axis, name in named.items():
                if axis not in self.axes:
                    raise ValueError(f"exclude[{place}]: no axis {axis!r} here; {nearest(axis, self.axes)}")
                known = {level.level_name() for level in self.axes[axis]}
                if name not in known:
                    raise ValueError(f"exclude[{place}].{axis}: no level {name!r} here; {nearest(name, known)}")
            if all(self.axes[axis][0].level_name() == name for axis, name in named.items()):
                raise ValueError(f"exclude[{place}]: the canonical harness is always run, and this leaves it out")
        return self

    def spec(self) -> dict[str, Any]:
        """The family as canonical JSON."""
        levels = {axis: [level.spec() for level in each] for axis, each in self.axes.items()}
        return {
            "name": self.name,
            "version": self.version,
            "about": self.about,
            "axes": levels,
            "weights": self.weights,
            "exclude": list(self.exclude),
        }

    @property
    def size(self) -> int:
        """How many combinations there are, impossible ones included."""
        total = 1
        for each in self.axes.values():
            total *= len(each)
        return total

    def rules(self) -> list[Rule]:
        """The rules between two axes that both vary here, and those of the family's own."""
        general = [rule for rule in RULES if rule.axis in self.axes and rule.other in self.axes]
        return general + [_own_rule(pair) for pair in self.exclude]

    def weight(self, axis: str, index: int) -> float:
        """The share of one level of an axis in random designs."""
        weights = self.weights.get(axis)
        return weights[index] / sum(weights) if weights else 1 / len(self.axes[axis])


def _own_rule(pair: Mapping[str, str]) -> Rule:
    (axis, level), (other, other_level) = ((key, name) for key, name in pair.items() if key != "reason")
    reason = pair.get("reason", "this family leaves the pair out")
    return Rule(axis, named(level), other, named(other_level), reason)


def whole_family() -> Family:
    """Every axis with every level that needs no parameters, as registered now (plugins included)."""
    given: dict[str, Any] = {}
    for axis in CANONICAL:
        names = [
            name for name, kind in levels(axis).items() if not any(f.is_required() for f in kind.model_fields.values())
        ]
        given[axis] = names
    return parse(Family, {"name": "everything", "axes": given}, "the whole family")


def named_families() -> dict[str, Path]:
    """The families that travel with the package, by name."""
    return {path.stem: path for path in sorted((bundled.folder("harnesses") / "families").glob("*.yaml"))}


def load_family(name_or_path: str | Path) -> Family:
    """A family by its name, `everything`, or from a YAML file anywhere.

    Raises:
        ConfigError: if there is none of that name, or the file does not hold a family.
    """
    known = named_families()
    given = str(name_or_path)
    if given == "everything":
        return whole_family()
    if given in known:
        path = known[given]
    elif given.endswith((".yaml", ".yml")) or "/" in given:
        path = Path(given)
    else:
        raise ConfigError(f"no family {given!r}; {nearest(given, [*known, 'everything'])}; or give the path of a file")
    return parse(Family, {"name": path.stem, **read_yaml(path)}, str(path))
