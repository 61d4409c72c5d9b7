"""The tools of the named toolset levels, as data."""

from __future__ import annotations

from harness_eval.axes.tool import ParameterType
from harness_eval.axes.toolset.spec import ParameterSpec as P
from harness_eval.axes.toolset.spec import ToolSpec

_COMMAND = P(role="command", description="The shell command to run.")
_PATH = "Path of the file, absolute or relative to the working directory."
_OLD = "The exact text to replace, including white space; it must occur once in the file."
_NEW = "The text to put in its place."
_ALL = "Replace every occurrence instead of one."
_SHELL = "Run a shell command with bash in the working directory and return its output and exit code."
_READ = "Read a text file."
_WRITE = "Write a file, replacing what it held before."
_REPLACE = "Edit a file by replacing an exact piece of text."
_FIRST = "First line to read, counted from 1."
_COUNT = "How many lines to read."
_CONTENT = "The whole new content of the file."
_PATTERN = P(role="pattern", description="Regular expression to look for.")


def _optional(role: str, description: str, kind: ParameterType = "integer") -> P:
    return P(role=role, description=description, type=kind, required=False)


def _shell(name: str, **extra: P) -> ToolSpec:
    return ToolSpec(name=name, operation="shell", description=_SHELL, parameters={"command": _COMMAND, **extra})


def _file_tools(names: tuple[str, str], path: str, content: str, **numbering: str) -> tuple[ToolSpec, ToolSpec]:
    reader, writer = names
    where = P(role="path", description=_PATH)
    return (
        ToolSpec(
            name=reader,
            operation="read",
            description=_READ,
            parameters={path: where, "offset": _optional("first", _FIRST), "limit": _optional("count", _COUNT)},
            fixed=dict(numbering),
        ),
        ToolSpec(
            name=writer,
            operation="write",
            description=_WRITE,
            parameters={path: where, content: P(role="text", description=_CONTENT)},
        ),
    )


def _replacer(name: str, path: str, old: str, new: str, **extra: P) -> ToolSpec:
    parameters = {
        path: P(role="path", description=_PATH),
        old: P(role="old", description=_OLD),
        new: P(role="new", description=_NEW),
    }
    return ToolSpec(name=name, operation="replace", description=_REPLACE, parameters={**parameters, **extra})


SHELL_ONLY = (_shell("bash"),)

SHELL_AND_EDITOR = (
    _shell("bash"),
    ToolSpec(
        name="str_replace_editor",
        operation="editor",
        description="View, create and edit files: view shows a file with line numbers, create writes a new file, "
        "str_replace replaces an exact piece of text that occurs once, insert adds text after a line.",
        parameters={
            "command": P(
                role="command",
                description="What to do.",
                choices=("view", "create", "str_replace", "insert"),
            ),
            "path": P(role="path", description=_PATH),
            "file_text": _optional("text", "Content of the file, for create.", "string"),
            "old_str": _optional("old", f"{_OLD} For str_replace.", "string"),
            "new_str": _optional("new", f"{_NEW} For str_replace and insert.", "string"),
            "insert_line": _optional("line", "Line after which to insert, 0 for the beginning; for insert."),
            "view_range": P(
                role="range",
                description="First and last line to show, for view; -1 means the end.",
                type="array",
                required=False,
                items={"type": "integer"},
            ),
        },
    ),
)

PASCAL = (
    _shell(
        "Bash",
        description=_optional("", "A few words on what the command does.", "string"),
        timeout=_optional("milliseconds", "Time limit in milliseconds."),
    ),
    *_file_tools(("Read", "Write"), "file_path", "content", numbering="tab"),
    _replacer("Edit", "file_path", "old_string", "new_string", replace_all=_optional("every", _ALL, "boolean")),
    ToolSpec(
        name="Grep",
        operation="find-text",
        description="Look for a regular expression in files and return the matching lines with their places.",
        parameters={
            "pattern": _PATTERN,
            "path": _optional("path", "File or folder to search.", "string"),
            "glob": _optional("files", "Only files whose names match this glob.", "string"),
        },
    ),
    ToolSpec(
        name="Glob",
        operation="find-files",
        description="List files whose paths match a glob pattern.",
        parameters={
            "pattern": P(role="pattern", description="Glob such as **/*.py."),
            "path": _optional("path", "Folder to search.", "string"),
        },
    ),
)

SNAKE = (
    _shell(
        "run_shell_command",
        description=_optional("", "A few words on what the command does.", "string"),
        dir_path=_optional("directory", "Directory to run it in.", "string"),
    ),
    *_file_tools(("read_file", "write_file"), "file_path", "content"),
    _replacer(
        "replace",
        "file_path",
        "old_string",
        "new_string",
        instruction=P(role="", description="What this edit is meant to achieve, in one sentence."),
        allow_multiple=_optional("every", _ALL, "boolean"),
    ),
    ToolSpec(
        name="search_file_content",
        operation="find-text",
        description="Look for a regular expression in files and return the matching lines with their places.",
        parameters={"pattern": _PATTERN, "dir_path": _optional("path", "File or folder to search.", "string")},
    ),
)

CAMEL = (
    _shell(
        "bash",
        description=P(role="", description="A few words on what the command does."),
        timeout=_optional("milliseconds", "Time limit in milliseconds."),
    ),
    *_file_tools(("read", "write"), "filePath", "content", numbering="colon"),
    _replacer("edit", "filePath", "oldString", "newString", replaceAll=_optional("every", _ALL, "boolean")),
)

PATH_OLD_TEXT = (
    *_file_tools(("read", "write"), "path", "content"),
    _shell("bash", timeout=_optional("seconds", "Time limit in seconds.")),
    _replacer("edit", "path", "oldText", "newText"),
)

VERB_NOUN = (
    _shell("execute_command", cwd=_optional("directory", "Directory to run it in.", "string")),
    *_file_tools(("read_file", "write_to_file"), "path", "content", numbering="colon"),
    ToolSpec(
        name="apply_diff",
        operation="patch",
        description="Edit a file with one or more blocks of the form: a line '<<<<<<< SEARCH', the exact old lines, "
        "a line '=======', the new lines, a line '>>>>>>> REPLACE'.",
        parameters={
            "path": P(role="path", description=_PATH),
            "diff": P(role="patch", description="The search and replace blocks."),
        },
    ),
)

APPLY_PATCH = (
    ToolSpec(
        name="exec_command",
        operation="shell",
        description=_SHELL,
        parameters={"cmd": _COMMAND, "workdir": _optional("directory", "Directory to run it in.", "string")},
    ),
    ToolSpec(
        name="apply_patch",
        operation="patch",
        description="Edit files with a patch. It starts with the line '*** Begin Patch' and ends with "
        "'*** End Patch'. Between them, '*** Update File: PATH' is followed by lines that start with ' ' (kept), "
        "'-' (removed) or '+' (added), several places being separated by a line '@@'; '*** Add File: PATH' by lines "
        "that start with '+'; '*** Delete File: PATH' by nothing.",
        parameters={"input": P(role="patch", description="The whole patch.")},
    ),
)

OPAQUE = (
    ToolSpec(name="t1", operation="shell", description=_SHELL, parameters={"a": _COMMAND}),
    ToolSpec(
        name="t2",
        operation="read",
        description=_READ,
        parameters={
            "a": P(role="path", description=_PATH),
            "b": _optional("first", _FIRST),
            "c": _optional("count", _COUNT),
        },
    ),
    ToolSpec(
        name="t3",
        operation="write",
        description=_WRITE,
        parameters={"a": P(role="path", description=_PATH), "b": P(role="text", description=_CONTENT)},
    ),
    _replacer("t4", "a", "b", "c"),
)
