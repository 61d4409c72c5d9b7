"""The file task.toml: its keys as models, checked, and what follows from them for the box."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, ValidationError

from harness_eval.errors import ConfigError, redact
from harness_eval.sandboxes.base import BoxLimits, BoxSpec
from harness_eval.types import Json

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_WORKDIR = re.compile(r"^\s*WORKDIR\s+\"?(/[^\s\"$]*)\"?\s*$", re.MULTILINE | re.IGNORECASE)
_MEGABYTES = {"k": 1 / 1024, "m": 1.0, "g": 1024.0, "t": 1024.0**2}
_Size = Annotated[str, Field(pattern=r"(?i)^\s*\d+(\.\d+)?\s*[kmgt]i?b?\s*$")]


class _Section(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow", frozen=True)


class Metadata(_Section):
    """The free part; we use two of its keys."""

    difficulty: str = "unknown"
    stresses: list[str] = []


class Agent(_Section):
    """Limits of the agent, in seconds."""

    timeout_sec: PositiveFloat | None = None


class Verifier(_Section):
    """How the verifier runs."""

    timeout_sec: PositiveFloat = 600.0
    env: dict[str, str] = {}
    environment_mode: Literal["shared", "separate"] = "shared"


class Solution(_Section):
    """How the solution runs."""

    env: dict[str, str] = {}


class Environment(_Section):
    """The box. `memory` and `storage` are the older spelling, as in "2G"; without either network key it is public."""

    build_timeout_sec: PositiveFloat = 600.0
    docker_image: str | None = None
    os: str = "linux"
    cpus: PositiveFloat | None = None
    memory_mb: PositiveInt | None = None
    storage_mb: PositiveInt | None = None
    memory: _Size | None = None
    storage: _Size | None = None
    gpus: int = 0
    workdir: Annotated[str, Field(pattern="^/")] | None = None
    env: dict[str, str] = {}
    network_mode: Literal["public", "no-network", "allowlist"] | None = None
    allow_internet: bool = True
    healthcheck: dict[str, Json] | None = None
    mcp_servers: list[Json] = []


class TaskToml(_Section):
    """The whole file; keys that are not listed are kept and ignored, since the format grows."""

    schema_version: Annotated[str, Field(pattern=r"^1\.")] = "1.0"
    metadata: Metadata = Metadata()
    agent: Agent = Agent()
    verifier: Verifier = Verifier()
    solution: Solution = Solution()
    environment: Environment = Environment()
    steps: list[Json] = []


def read_task_toml(path: Path) -> TaskToml:
    """Read and check the file.

    Raises:
        ConfigError: it is missing or no TOML, a value has the wrong type, or a key inside a section is misspelled.
    """
    try:
        config = TaskToml.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: missing; a task is a folder with a task.toml") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        expected = first["msg"].removeprefix("Input ")
        raise ConfigError(redact(f"{path}: {key} {expected}, not {first['input']!r}")) from error
    except ValueError as error:  # not UTF-8, or not TOML
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    for name in ("agent", "verifier", "solution", "environment"):
        _refuse_misspelled(path, name, getattr(config, name))
    return config


def _refuse_misspelled(path: Path, name: str, section: _Section) -> None:
    known = list(type(section).model_fields)
    for key in section.model_extra or {}:
        if close := difflib.get_close_matches(key, known, n=1, cutoff=0.85):
            raise ConfigError(f"{path}: unknown key {name}.{key}; did you mean {close[0]!r}?")


def unsupported(folder: Path, config: TaskToml) -> str | None:
    """Why this task cannot run here, or None."""
    environment = config.environment
    compose = [folder / "environment" / f"docker-compose.{ending}" for ending in ("yaml", "yml")]
    reasons = (
        (any(path.is_file() for path in compose), "its environment is made of several containers (docker-compose)"),
        (bool(config.steps) or (folder / "steps").is_dir(), "it has several steps with an instruction each"),
        (environment.gpus > 0, f"it needs {environment.gpus} GPU(s)"),
        (environment.os != "linux", f"it needs the operating system {environment.os!r}, not linux"),
        (config.verifier.environment_mode == "separate", "its verifier needs a container of its own"),
        (environment.network_mode == "allowlist", "its network is limited to a list of hosts"),
        (environment.healthcheck is not None, "its environment must pass a health check first"),
        (bool(environment.mcp_servers), "it offers tools through MCP servers"),
    )
    return next((reason for found, reason in reasons if found), None)


def box_spec(folder: Path, config: TaskToml) -> BoxSpec:
    """What to make this task's box from.

    Raises:
        ConfigError: a variable of the host that it refers to is not set.
    """
    environment = config.environment
    inside = folder / "environment"
    return BoxSpec(
        name=folder.name,
        environment=inside if inside.is_dir() else None,
        image=environment.docker_image,
        workdir=environment.workdir or _dockerfile_workdir(inside / "Dockerfile") or "/app",
        env=expand(environment.env, f"{folder / 'task.toml'}: environment.env"),
        limits=_limits(environment),
        build_timeout=environment.build_timeout_sec,
    )


def _limits(environment: Environment) -> BoxLimits:
    usual = BoxLimits()
    public = environment.allow_internet if environment.network_mode is None else environment.network_mode == "public"
    return BoxLimits(
        memory_mb=environment.memory_mb or _megabytes(environment.memory) or usual.memory_mb,
        cpus=environment.cpus or usual.cpus,
        disk_mb=environment.storage_mb or _megabytes(environment.storage) or usual.disk_mb,
        network=public,
    )


def _megabytes(size: str | None) -> int | None:
    if size is None:
        return None
    number, unit = re.findall(r"[\d.]+|[kmgt]", size.lower())[:2]
    return max(1, round(float(number) * _MEGABYTES[unit]))


def _dockerfile_workdir(path: Path) -> str | None:
    found = _WORKDIR.findall(path.read_text(encoding="utf-8", errors="replace")) if path.is_file() else []
    return found[-1] if found else None


def expand(env: Mapping[str, str], where: str) -> dict[str, str]:
    """The variables with `${NAME}` and `${NAME:-default}` taken from the host.

    Raises:
        ConfigError: NAME is not set and has no default; `where` names the file and the table.
    """

    def value(match: re.Match[str]) -> str:
        name, default = match.groups()
        found = os.environ.get(name, default)
        if found is None:
            raise ConfigError(f"{where}: the host variable {name} is not set; set it, or write ${{{name}:-default}}")
        return found or default or ""

    return {key: _VARIABLE.sub(value, text) for key, text in env.items()}
