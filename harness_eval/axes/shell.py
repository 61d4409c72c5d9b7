"""Axis shell: what a shell command finds of the commands before it."""

from __future__ import annotations

import shlex
from abc import abstractmethod
from typing import ClassVar

from harness_eval.axes.level import Level


class Shell(Level):
    """What carries over from one command to the next."""

    axis: ClassVar[str] = "shell"

    @abstractmethod
    def wrap(self, command: str, state_folder: str) -> str:
        """The command with what restores and saves the shell's state."""


class Fresh(Shell):
    """Each command gets a new shell in the working directory."""

    def wrap(self, command: str, state_folder: str) -> str:
        """The command as it is."""
        return command

    def instructions(self) -> str:
        """That nothing carries over."""
        return "Each command runs in a new shell, in the working directory."


class CwdKept(Shell):
    """The current directory carries over, variables do not."""

    def wrap(self, command: str, state_folder: str) -> str:
        """With the directory restored and saved."""
        return _stateful(command, state_folder, restore="", save="")

    def instructions(self) -> str:
        """What carries over."""
        return "The current directory carries over from one command to the next; variables do not."


class Persistent(Shell):
    """One shell for all commands: directory, variables and functions carry over."""

    def wrap(self, command: str, state_folder: str) -> str:
        """With directory, variables and functions restored and saved."""
        state = shlex.quote(f"{state_folder}/variables")
        restore = f"[ -f {state} ] && . {state} 2>/dev/null; "
        return _stateful(command, state_folder, restore, save=f"{{ declare -p; declare -f; }} > {state}; ")

    def instructions(self) -> str:
        """What carries over."""
        return "All commands run in one shell: directory, variables and functions carry over."


def _stateful(command: str, state_folder: str, restore: str, save: str) -> str:
    folder, place = shlex.quote(state_folder), shlex.quote(f"{state_folder}/directory")
    saving = shlex.quote(f"__code=$?; {save}pwd > {place}; exit $__code")
    before = f'mkdir -p {folder}; {restore}[ -f {place} ] && cd "$(cat {place})" 2>/dev/null; '
    # eval keeps a syntax error of the command's from hiding the lines that save the state.
    return f"{before}trap {saving} EXIT; eval {shlex.quote(command)}"
