"""Axis toolset: the names of the tools, the names of their parameters, and how files are edited."""

from __future__ import annotations

from typing import ClassVar

from pydantic import field_validator

from harness_eval.axes.level import Level
from harness_eval.axes.tool import Tool
from harness_eval.axes.toolset import styles
from harness_eval.axes.toolset.spec import ParameterSpec, ToolSpec

__all__ = ["ParameterSpec", "ToolSpec", "Toolset"]


class Toolset(Level):
    """Which tools do the work."""

    axis: ClassVar[str] = "toolset"

    specs: ClassVar[tuple[ToolSpec, ...]] = ()

    def work_tools(self) -> tuple[ToolSpec, ...]:
        """The tools of this level as data."""
        return self.specs

    def amend(self, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        """The tools of this level, before those of other axes."""
        return tuple(spec.tool() for spec in self.work_tools()) + tools


class ShellAndEditor(Toolset):
    """A shell and one editor tool whose `command` says what it does, as many training harnesses have it."""

    specs = styles.SHELL_AND_EDITOR


class ShellOnly(Toolset):
    """One shell tool and nothing else; files are edited with the shell's own means."""

    specs = styles.SHELL_ONLY


class PascalCase(Toolset):
    """Bash, Read, Write, Edit, Grep and Glob, with file_path, old_string and new_string."""

    specs = styles.PASCAL


class SnakeCase(Toolset):
    """run_shell_command, read_file, write_file and replace, which wants an instruction for each edit."""

    specs = styles.SNAKE


class CamelCase(Toolset):
    """bash, read, write and edit in lower case, with filePath, oldString and newString."""

    specs = styles.CAMEL


class PathOldText(Toolset):
    """read, bash, edit and write, where an edit takes path, oldText and newText."""

    specs = styles.PATH_OLD_TEXT


class VerbNoun(Toolset):
    """execute_command, read_file, write_to_file and apply_diff, which takes search and replace blocks as text."""

    specs = styles.VERB_NOUN


class ApplyPatch(Toolset):
    """A shell tool and apply_patch, which takes one patch for several files as text."""

    specs = styles.APPLY_PATCH


class OpaqueAliases(Toolset):
    """Names that mean nothing: only descriptions tell what a tool or parameter is for."""

    specs = styles.OPAQUE


class Custom(Toolset):
    """Tools written out in the harness file, for rebuilding the interface of a particular agent."""

    tools: tuple[ToolSpec, ...]

    @field_validator("tools")
    @classmethod
    def _distinct(cls, value: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
        names = [spec.name for spec in value]
        if len(set(names)) < len(names) or not names:
            raise ValueError("tool names must be distinct, and there must be at least one tool")
        return value

    @property
    def label(self) -> str:
        """The level's name with the names of its tools."""
        return f"custom({', '.join(spec.name for spec in self.tools)})"

    def work_tools(self) -> tuple[ToolSpec, ...]:
        """The tools of the harness file."""
        return self.tools
