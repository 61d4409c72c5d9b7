"""Reading YAML files, and the one translation of what pydantic says into one line a user can act on."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from harness_eval.errors import ConfigError, nearest, redact
from harness_eval.types import Json

Model = TypeVar("Model", bound=BaseModel)

_SHOWN = 3  # problems named in one message; more than that is noise
_LONGEST = 200  # characters of a wrong value that a message repeats
_LARGEST = 1_000_000  # values of a file in which every alias is written out
# The last ones are what the library raises for values such as 2024-99-99, `!!int ""` and `!!bool perhaps`.
_BAD_YAML = (yaml.YAMLError, ValueError, OverflowError, LookupError, AttributeError)


class _Loader(yaml.SafeLoader):
    """YAML's safe subset, except that a key written twice is an error: the first would vanish without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key must be a single value", key.start_mark)
            if key.value in seen and key.tag != "tag:yaml.org,2002:merge":
                raise yaml.constructor.ConstructorError(None, None, f"key {key.value!r} stands twice", key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)

    def get_single_node(self) -> yaml.Node | None:
        node = super().get_single_node()
        if node is not None and _values(node, {}) > _LARGEST:
            raise yaml.constructor.ConstructorError(
                None, None, f"its aliases (*) hold themselves, or are more than {_LARGEST:,} values when written out"
            )
        return node


def _values(node: yaml.Node, known: dict[int, float]) -> float:
    """How many values a part of a document is with its aliases written out; infinite where it holds itself."""
    if id(node) not in known:
        known[id(node)] = float("inf")
        inner = node.value if isinstance(node, yaml.CollectionNode) else []
        pairs = isinstance(node, yaml.MappingNode)
        known[id(node)] = 1 + sum(_values(each, known) for part in inner for each in (part if pairs else [part]))
    return known[id(node)]


def read_text(path: Path | str) -> str:
    """The text of a regular file; nothing else is read, since a pipe may never end.

    Raises:
        ConfigError: the file is missing, cannot be read, or is not text in UTF-8.
    """
    file = Path(path)
    try:
        if file.exists() and not file.is_file():
            raise ConfigError(f"{path}: cannot be read: it is no regular file")
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not a text file in UTF-8") from None
    except ValueError as error:  # a name that none can have
        raise ConfigError(f"{str(path)!r}: cannot be read: {error}") from None


def read_yaml(path: Path | str) -> dict[str, Json]:
    """The mapping that a YAML file holds.

    Raises:
        ConfigError: the file is missing, unreadable, not text, not YAML, or holds no mapping.
    """
    return parse_yaml(read_text(path), str(path))


def parse_yaml(text: str, where: str) -> dict[str, Json]:
    """The mapping that a text in YAML holds; `where` is named first in what is raised.

    Raises:
        ConfigError: the text is not YAML, or holds no mapping.
    """
    try:
        data = yaml.load(text, Loader=_Loader)
    except _BAD_YAML as error:
        raise ConfigError(f"{where}: is not YAML: {_yaml_problem(error)}") from None
    except RecursionError:
        raise ConfigError(f"{where}: is not YAML: its values are nested too deep") from None
    if not isinstance(data, dict):
        found = "nothing" if data is None else f"a {type(data).__name__}"
        raise ConfigError(f"{where}: must hold a mapping of keys to values, but holds {found}")
    return data


def _yaml_problem(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or " ".join(str(error).split())
    return f"{problem} (line {mark.line + 1}, column {mark.column + 1})" if mark else str(problem)


def parse(model: type[Model], data: Json, where: str) -> Model:
    """`data` as an instance of `model`.

    Args:
        model: any pydantic model.
        data: what was read, usually a mapping.
        where: the file or flag that `data` came from, named first in the message.

    Raises:
        ConfigError: in one line, with the dotted path of each wrong key and the nearest valid choice.
    """
    try:
        return model.model_validate(data)
    except ConfigError as error:  # raised by a validator, which cannot know the file
        raise ConfigError(f"{where}: {error}") from None
    except ValidationError as error:
        problems = error.errors(include_url=False)
        told = [_told(model, data, problem) for problem in problems[:_SHOWN]]
        rest = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        line = " ".join(f"{where}: {'; '.join(told)}{rest}".splitlines())  # a key may hold ends of lines
        raise ConfigError(redact(line)) from None


def _told(model: type[BaseModel], data: Json, problem: ErrorDetails) -> str:
    kind, place, context = problem["type"], problem["loc"], problem.get("ctx", {})
    path = ".".join(_path(data, place, missing=kind == "missing"))
    prefix = f"{path}: " if path else ""
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"{prefix}unknown key; {nearest(str(place[-1]), _names_at(model, place[:-1]))}"
    if kind in ("literal_error", "enum", "union_tag_invalid"):
        choices = re.findall(r"'([^']*)'", str(context.get("expected") or context.get("expected_tags")))
        value = _cut(str(context.get("tag", problem["input"])))
        return f"{prefix}{value!r} is not known; {nearest(value, choices)}"
    if kind == "missing":
        return f"{prefix}is required"
    if kind == "value_error":
        return f"{prefix}{context.get('error', problem['msg'])}"
    message = problem["msg"][:1].lower() + problem["msg"][1:]
    simple = isinstance(problem["input"], str | int | float | bool | None)
    return f"{prefix}{message}" + (f", not {_cut(repr(problem['input']))}" if simple else "")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _path(data: Json, place: Iterable[int | str], missing: bool) -> Iterator[str]:
    """The parts of an error's location that are keys of `data`; pydantic adds the members of unions, which are not."""
    parts = list(place)
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        keys = data if isinstance(data, Mapping) else range(len(data)) if isinstance(data, list | tuple) else ()
        if part in keys:
            data = data[part]
        elif not (last and missing):
            continue
        yield str(part)


def _names_at(model: type[BaseModel], place: Iterable[int | str]) -> set[str]:
    """The keys that are valid at an error's location, over all models that may stand there."""
    candidates: list[Any] = [model]
    for part in place:
        deeper = [kind for each in candidates for kind in _flat(_keys(each).get(str(part)))]
        candidates = deeper or candidates  # an index, a dictionary's key, or the name of a member of a union
    return {name for each in candidates for name in _keys(each)}


def _keys(kind: Any) -> dict[str, Any]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {info.alias or name: info.annotation for name, info in kind.model_fields.items()}
    if dataclasses.is_dataclass(kind):
        return {each.name: each.type for each in dataclasses.fields(kind)}
    return {}


def _flat(annotation: Any) -> Iterator[Any]:
    """All the types that an annotation such as ``list[A | B]`` mentions."""
    inner = get_args(annotation)
    if not inner and annotation is not None:
        yield annotation
    for each in inner:
        yield from _flat(each)
