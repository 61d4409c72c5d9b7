"""The file task.toml: its keys as models, checked, and what follows from them for the box."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveFloat, PositiveInt, ValidationError

from harness_eval.errors import ConfigError, redact
from harness_eval.sandboxes.base import BoxLimits, BoxSpec, Healthcheck
from harness_eval.types import Json

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_WORKDIR = re.compile(r"^\s*WORKDIR\s+\"?(/[^\s\"$]*)\"?\s*$", re.MULTILINE | re.IGNORECASE)
_KNOWN_FORMAT = re.compile(r"1(\.\d+)*")
_COMPOSE = [f"{stem}.{ending}" for stem in ("docker-compose", "compose") for ending in ("yaml", "yml")]
_COMPOSED = "its environment is a docker-compose file, which may start other containers, mounts and networks"
_NETWORK_CHANGES = "its network changes between environment, agent and verifier"
_MEGABYTES = {"k": 1 / 1024, "m": 1.0, "g": 1024.0, "t": 1024.0**2}
_MOST_MEGABYTES = 1 << 24  # 16 TB, more than any machine gives a box
_Megabytes = Annotated[int, Field(gt=0, le=_MOST_MEGABYTES)]
_Network: TypeAlias = Literal["public", "no-network", "allowlist"]
_Size = Annotated[str, Field(pattern=r"(?i)^\s*\d+(\.\d+)?\s*[kmgt]i?b?\s*$")]


class _Section(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow", frozen=True, allow_inf_nan=False)


class Metadata(_Section):
    """The free part; we use three of its keys."""

    difficulty: Json = "unknown"
    stresses: list[str] = []
    group: Json = None


class Agent(_Section):
    """Limits of the agent, in seconds, and as whom it works; without a network mode it has the environment's."""

    timeout_sec: PositiveFloat | None = None
    user: str | int | None = None
    network_mode: _Network | None = None
    allowed_hosts: list[str] = []


class Verifier(_Section):
    """How the verifier runs."""

    timeout_sec: PositiveFloat = 600.0
    env: dict[str, str] = {}
    user: str | int | None = None
    environment_mode: Literal["shared", "separate"] = "shared"
    network_mode: _Network | None = None
    allowed_hosts: list[str] = []


class Health(_Section):
    """When the environment counts as ready; times are in seconds."""

    command: str
    interval_sec: PositiveFloat = 5.0
    timeout_sec: PositiveFloat = 30.0
    start_period_sec: NonNegativeFloat = 0.0
    start_interval_sec: PositiveFloat = 5.0
    retries: PositiveInt = 3


class Solution(_Section):
    """How the solution runs."""

    env: dict[str, str] = {}


class Environment(_Section):
    """The box. `memory` and `storage` are the older spelling, as in "2G"; without either network key it is public."""

    build_timeout_sec: PositiveFloat = 600.0
    docker_image: str | None = None
    os: str = "linux"
    cpus: PositiveFloat | None = None
    memory_mb: _Megabytes | None = None
    storage_mb: _Megabytes | None = None
    memory: _Size | None = None
    storage: _Size | None = None
    gpus: int = 0
    workdir: Annotated[str, Field(pattern="^/")] | None = None
    env: dict[str, str] = {}
    network_mode: _Network | None = None
    allowed_hosts: list[str] = []
    allow_internet: bool = True
    healthcheck: Health | None = None
    mcp_servers: list[Json] = []
    skills_dir: str | None = None

    @property
    def network(self) -> _Network:
        """What the box may reach; the newer key wins over the older one."""
        return self.network_mode or ("public" if self.allow_internet else "no-network")


class TaskToml(_Section):
    """The whole file; keys that are not listed are kept and ignored, since the format grows.

    `version` is the older name of `schema_version`.
    """

    schema_version: Json = None
    version: Json = None
    metadata: Metadata = Metadata()
    agent: Agent = Agent()
    verifier: Verifier = Verifier()
    solution: Solution = Solution()
    environment: Environment = Environment()
    steps: list[Json] = []

    @property
    def format(self) -> str:
        """The version of the format."""
        return str(self.schema_version or self.version or "1.0")


def read_task_toml(path: Path) -> TaskToml:
    """Read and check the file; of a version of the format that is not known, nothing but the version is read.

    Raises:
        ConfigError: it is missing or no TOML, a value has the wrong type, or a key inside a section is misspelled.
    """
    data = _read(path)
    version = TaskToml.model_construct(schema_version=data.get("schema_version"), version=data.get("version")).format
    if not _KNOWN_FORMAT.fullmatch(version):
        return TaskToml(schema_version=version)
    try:
        config = TaskToml.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        expected = first["msg"].removeprefix("Input ")
        raise ConfigError(redact(f"{path}: {key} {expected}, not {repr(first['input'])[:200]}")) from error
    for name in ("agent", "verifier", "solution", "environment"):
        _refuse_misspelled(path, name, getattr(config, name))
    return config


def _read(path: Path) -> dict[str, Json]:
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path}: cannot be read (it is no regular file)")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: missing; a task is a folder with a task.toml") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:  # not UTF-8, not TOML, or nested without end
        raise ConfigError(f"{path}: not valid TOML: {str(error)[:200]}") from error


def _refuse_misspelled(path: Path, name: str, section: _Section) -> None:
    known = list(type(section).model_fields)
    for key in section.model_extra or {}:
        if close := difflib.get_close_matches(key, known, n=1, cutoff=0.85):
            raise ConfigError(f"{path}: unknown key {name}.{key}; did you mean {close[0]!r}?")


def unsupported(folder: Path, config: TaskToml) -> str | None:
    """Why this task cannot run here, with all reasons, or None."""
    if not _KNOWN_FORMAT.fullmatch(config.format):
        return f"it is written in version {config.format[:20]} of the format, of which 1.x is understood"
    environment, verifier, network = config.environment, config.verifier, config.environment.network
    asked = [mode for mode in (config.agent.network_mode, verifier.network_mode) if mode is not None]
    compose = [folder / "environment" / name for name in _COMPOSE]
    reasons = (
        (any(path.is_file() for path in compose), _COMPOSED),
        (bool(config.steps) or (folder / "steps").is_dir(), "it has several steps with an instruction each"),
        (environment.gpus > 0, f"it needs {environment.gpus} GPU(s)"),
        (environment.os.lower() != "linux", f"it needs the operating system {environment.os!r}, not linux"),
        (verifier.environment_mode == "separate", "its verifier needs a container of its own"),
        ("allowlist" in (network, *asked), "its network is limited to a list of hosts"),
        (any(mode not in (network, "allowlist") for mode in asked), _NETWORK_CHANGES),
        (bool(environment.mcp_servers), "it offers tools through MCP servers"),
        (bool(environment.skills_dir), "it brings a folder of skills for the agent"),
        ((folder / "trajectory.json").is_file(), "it begins in the middle of a recorded trajectory"),
    )
    found = [reason for applies, reason in reasons if applies]
    tables = (("environment", environment.env), ("verifier", verifier.env), ("solution", config.solution.env))
    for name, env in tables:
        found += [f"the host variable {variable} is not set ({name}.env)" for variable in _unset(env)]
    return "; ".join(found) or None


def box_spec(folder: Path, config: TaskToml) -> BoxSpec:
    """What to make this task's box from."""
    environment = config.environment
    inside = folder / "environment"
    return BoxSpec(
        name=folder.name,
        environment=inside if inside.is_dir() else None,
        image=environment.docker_image,
        workdir=environment.workdir or _dockerfile_workdir(inside / "Dockerfile") or "/app",
        env=expand(environment.env),
        limits=_limits(environment),
        build_timeout=environment.build_timeout_sec,
        workdir_of_image=environment.workdir is None,
        user=_user(config.agent.user),
        verifier_user=_user(config.verifier.user),
        healthcheck=_healthcheck(environment.healthcheck),
    )


def _user(given: str | int | None) -> str | None:
    return None if given is None else str(given)


def _healthcheck(given: Health | None) -> Healthcheck | None:
    if given is None:
        return None
    return Healthcheck(
        command=given.command,
        interval=given.interval_sec,
        timeout=given.timeout_sec,
        retries=given.retries,
        start_period=given.start_period_sec,
        start_interval=given.start_interval_sec,
    )


def _limits(environment: Environment) -> BoxLimits:
    usual = BoxLimits()
    return BoxLimits(
        memory_mb=environment.memory_mb or _megabytes(environment.memory) or usual.memory_mb,
        cpus=environment.cpus or usual.cpus,
        disk_mb=environment.storage_mb or _megabytes(environment.storage) or usual.disk_mb,
        network=environment.network == "public",
    )


def _megabytes(size: str | None) -> int | None:
    if size is None:
        return None
    number, unit = re.findall(r"[\d.]+|[kmgt]", size.lower())[:2]
    return min(max(1, round(float(number) * _MEGABYTES[unit])), _MOST_MEGABYTES)


def _dockerfile_workdir(path: Path) -> str | None:
    found = _WORKDIR.findall(path.read_text(encoding="utf-8", errors="replace")) if path.is_file() else []
    return found[-1] if found else None


def _unset(env: Mapping[str, str]) -> list[str]:
    """The host variables that are referred to, have no default and are not set."""
    named = [match.groups() for text in env.values() for match in _VARIABLE.finditer(text)]
    return sorted({name for name, default in named if default is None and name not in os.environ})


def expand(env: Mapping[str, str]) -> dict[str, str]:
    """The variables with `${NAME}` and `${NAME:-default}` taken from the host; one that is not set is empty."""

    def value(match: re.Match[str]) -> str:
        name, default = match.groups()
        return os.environ.get(name) or default or ""

    return {key: _VARIABLE.sub(value, text) for key, text in env.items()}
