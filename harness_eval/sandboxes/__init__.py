"""Where commands run: Docker, bubblewrap, or a plain folder on this machine."""

from __future__ import annotations

from collections.abc import Callable

from harness_eval.errors import ConfigError, nearest
from harness_eval.sandboxes.base import SandboxProvider
from harness_eval.sandboxes.bubblewrap import BubblewrapProvider
from harness_eval.sandboxes.docker.provider import DockerProvider
from harness_eval.sandboxes.local import LocalProvider

_KINDS: dict[str, Callable[..., SandboxProvider]] = {
    "bubblewrap": BubblewrapProvider,
    "docker": DockerProvider,
    "local": LocalProvider,
}


def provider(kind: str, **options: str) -> SandboxProvider:
    """The sandboxes of a kind: `docker`, `bubblewrap`, `local`, or `auto` for bubblewrap where it works, else local.

    `base_image` is an option of docker: what tasks are built on.

    Raises:
        ConfigError: no such kind or option, or the kind cannot be used on this machine, with what to do about it.
    """
    if kind not in (*_KINDS, "auto"):
        raise ConfigError(f"sandbox {kind!r} is unknown; {nearest(kind, (*_KINDS, 'auto'))}")
    for name in options:
        if kind != "docker" or name != "base_image":
            hint = nearest(name, ["base_image"]) if kind == "docker" else "it takes none; base_image belongs to docker"
            raise ConfigError(f"sandbox {kind!r} has no option {name!r}; {hint}")
    if kind == "auto":
        boxes = BubblewrapProvider()
        return LocalProvider() if boxes.unavailable() else boxes
    chosen = _KINDS[kind](**options)
    if reason := chosen.unavailable():
        raise ConfigError(f"the sandbox {kind} cannot be used here: {reason}")
    return chosen
