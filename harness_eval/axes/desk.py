"""What tools act on during one trial: the sandbox, the shell's state, and the plan that the model keeps."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from harness_eval.sandboxes.base import Executed, Sandbox

ShellWrapper = Callable[[str, str], str]


def _as_it_is(command: str, state_folder: str) -> str:
    del state_folder
    return command


@dataclass(slots=True)
class Desk:
    """One trial's working place. `wrap` is how the harness's shell keeps state between commands."""

    sandbox: Sandbox
    wrap: ShellWrapper = _as_it_is
    command_timeout: float = 60.0
    plan: list[dict[str, str]] = field(default_factory=list)

    @property
    def state_folder(self) -> str:
        """Where a shell that keeps state stores it, outside of the working directory."""
        return f"{self.sandbox.root}/tmp/.shell-state"  # noqa: S108 - inside of the sandbox

    @property
    def spill_folder(self) -> str:
        """Where results that are too long to show are kept whole."""
        return f"{self.sandbox.root}/tmp/tool-output"  # noqa: S108 - inside of the sandbox

    async def spill(self, path: str, text: str) -> None:
        """Keep a long result whole where the model is told that it is; a full disk is the model's own doing."""
        with suppress(OSError):
            await self.sandbox.write(path, text.encode())

    async def run(self, command: str, timeout: float | None = None) -> Executed:
        """A command of the model's, within the harness's shell."""
        limit = min(timeout or self.command_timeout, self.command_timeout)
        return await self.sandbox.run(self.wrap(command, self.state_folder), timeout=limit)
