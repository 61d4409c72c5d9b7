"""What a call does, whatever the tool is called: so that two harnesses can be compared by deeds and not by names."""

from __future__ import annotations

import difflib
import posixpath
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from harness_eval import recording
from harness_eval.axes.toolset import ToolSpec
from harness_eval.harness import Harness
from harness_eval.report.wording import one_line
from harness_eval.types import Json, Malformed, ToolCall

Arguments: TypeAlias = Mapping[str, Json]

_SUBSHELL = re.compile(r"\A\(\n(.*)\n\)\Z", re.DOTALL)
_COMMENT = re.compile(r"\s+# [^'\"\n]*\Z")
_CAT = re.compile(r"\Acat(?: -n)? (?:-- )?([^\s;&|<>$`*?'\"]+|'[^'\n]+')\Z")
_HEREDOC = re.compile(r"\A(?:mkdir -p \S+ && )?cat > (\S+) <<-? ?'?\"?(\w+)'?\"?\n(.*)\n\2\Z", re.DOTALL)
_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"<{5,9} SEARCH\n(?::start_line:.*\n-*\n)?(.*?)\n?={5,9}\n(.*?)\n?>{5,9} REPLACE", re.DOTALL)
_WRITES = re.compile(r">|sed -i|tee |write|patch|mv |cp ")
_LONGEST_COMMAND = 20_000  # characters; beyond them a command or a patch is compared as it is written
_LONGEST_EDIT = 200  # lines, likewise
_CHANGING = frozenset({"write", "edit"})
_WORDS = {
    "run": ("run", "runs"),
    "read": ("read", "reads"),
    "write": ("write", "writes"),
    "edit": ("edit", "edits"),
    "delete": ("delete", "deletes"),
    "search": ("search for", "searches for"),
    "find": ("look for", "looks for"),
    "list": ("list", "lists"),
    "plan": ("note a plan", "notes a plan"),
    "think": ("think", "thinks"),
    "finish": ("finish", "finishes"),
    "say": ("call nothing", "calls nothing"),
    "unreadable": ("call what cannot be read:", "calls what cannot be read:"),
}


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing done: its kind, what it is done to (a command, a path, a pattern), and all the rest of it."""

    kind: str
    target: str = ""
    rest: tuple[str, ...] = ()

    @property
    def beside_the_work(self) -> bool:
        """Whether it is what a harness asks for besides the task, such as keeping a plan."""
        return self.kind in {"plan", "think"}

    def words(self, *, both: bool = False) -> str:
        """The deed in a few words on one line: what one of them does, or what both do."""
        plural, singular = _WORDS.get(self.kind, (f"call {self.kind}", f"calls {self.kind}"))
        return one_line(f"{plural if both else singular} {self.target}", 90)


def alike(one: Deed, other: Deed) -> bool:
    """Whether both do the same, or the same to one file by other means: a tool for editing, or a command that names it.

    What a command does to a file cannot be told from its text, so it is believed.
    """
    kinds = {one.kind, other.kind}
    if one == other or not (one.target and other.target):
        return one == other
    if kinds == {"edit"}:
        return one.target == other.target and _within(one, other, "-") and _within(one, other, "+")
    if len(kinds) == 1 or kinds <= _CHANGING:
        return len(kinds) > 1 and one.target == other.target
    return "run" in kinds and _names_file(*((one, other) if one.kind == "run" else (other, one)))


def _names_file(command: Deed, file: Deed) -> bool:
    """Whether a command may well do this to a file: it names it, and writes something where the file is changed."""
    if file.kind not in _CHANGING | {"read"}:
        return False
    named = re.search(rf"(?<![\w./-]){re.escape(file.target)}(?![\w-])", command.target)
    return named is not None and (file.kind == "read" or _WRITES.search(command.target) is not None)


def _within(one: Deed, other: Deed, sign: str) -> bool:
    """Whether the lines with this sign of one edit are those of the other, or parts of them."""
    ours, theirs = ([line[2:].strip() for line in deed.rest if line[:1] == sign] for deed in (one, other))
    if len(ours) != len(theirs):
        return False
    return all(a in b or b in a for a, b in zip(ours, theirs, strict=True))


def deeds_of(call: ToolCall | Malformed, harness: Harness | None) -> tuple[Deed, ...]:
    """What a call does under its harness; a tool that is not known is a kind of its own."""
    if isinstance(call, Malformed):
        return (Deed("unreadable", call.name, (call.raw,)),)
    spec = _spec(call.name, harness)
    if spec is None:
        return (_by_kind(call, harness),)
    roles = {name: parameter.role for name, parameter in spec.parameters.items() if parameter.role}
    named = {roles[name]: value for name, value in call.arguments.items() if name in roles and value is not None}
    return _BY_OPERATION[spec.operation]({**spec.fixed, **named}, _sentinel(harness))


def _spec(name: str, harness: Harness | None) -> ToolSpec | None:
    specs = harness.toolset.work_tools() if harness else ()
    return next((spec for spec in specs if spec.name == name), None)


def _by_kind(call: ToolCall, harness: Harness | None) -> Deed:
    kind = next((tool.kind for tool in harness.tools if tool.name == call.name), "") if harness else ""
    if kind in {"plan", "stop"}:
        return Deed("plan" if kind == "plan" else "finish")
    return Deed(call.name, "", (recording.dump(call.arguments).decode(),))


def _sentinel(harness: Harness | None) -> str:
    return str(getattr(harness.stopping, "word", "")) if harness else ""


def _path(value: Json) -> str:
    return posixpath.normpath(str(value)) if value else "."


def _command(value: Json, word: str) -> Deed:
    if isinstance(value, list):
        words = [str(each) for each in value]
        value = words[2] if words[:1] == ["bash"] and len(words) == 3 else shlex.join(words)
    command = str(value).strip()
    if len(command) > _LONGEST_COMMAND:
        return Deed("run", command)
    command = _COMMENT.sub("", command)
    if inside := _SUBSHELL.match(command):
        command = inside[1].strip()
    if word and word in command and command.startswith("echo "):
        return Deed("finish")
    if shown := _CAT.match(command):
        return Deed("read", _path(shown[1].strip("'")), ("", ""))
    if made := _HEREDOC.match(command):
        return Deed("write", _path(made[1].strip("'\"")), (f"{made[3]}\n",))
    return Deed("run", command)


def _shell(arguments: Arguments, word: str) -> tuple[Deed, ...]:
    deed = _command(arguments.get("command", ""), word)
    if not arguments.get("directory"):
        return (deed,)
    return (Deed(deed.kind, deed.target, (*deed.rest, f"in {_path(arguments['directory'])}")),)


def _shells(arguments: Arguments, word: str) -> tuple[Deed, ...]:
    commands = arguments.get("commands", ())
    each = commands if isinstance(commands, list) else [commands]
    texts = [c.get("keystrokes") or c.get("command") or "" if isinstance(c, Mapping) else c for c in each]
    return tuple(_command(text, word) for text in texts)


def _read(arguments: Arguments, word: str) -> tuple[Deed, ...]:
    del word
    first = str(arguments.get("first") or "")
    last = str(arguments.get("last") or arguments.get("count") or "")
    lines = ("", "") if (first, last) in {("1", ""), ("0", "")} else (first, last)
    return (Deed("read", _path(arguments.get("path")), lines),)


def _write(arguments: Arguments, word: str) -> tuple[Deed, ...]:
    del word
    return (Deed("write", _path(arguments.get("path")), (str(arguments.get("text", "")),)),)


def _changed(path: Json, old: str, new: str) -> Deed:
    """An edit by the lines that it takes away and puts in, so that it is the same with more or less around it."""
    before, after = old.splitlines(), new.splitlines()
    if len(before) + len(after) > _LONGEST_EDIT:
        return Deed("edit", _path(path), (old, new))
    changes = []
    for _, i, j, k, m in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if before[i:j] != after[k:m]:
            changes += [f"- {line.rstrip()}" for line in before[i:j]] + [f"+ {line.rstrip()}" for line in after[k:m]]
    return Deed("edit", _path(path), tuple(changes))


def _replace(arguments: Arguments, word: str) -> tuple[Deed, ...]:
    del word
    return (_changed(arguments.get("path"), str(arguments.get("old", "")), str(arguments.get("new", ""))),)


def _insert(arguments: Arguments, word: str) -> tuple[Deed, ...]:
    del word
    return (_changed(arguments.get("path"), "", str(arguments.get("text") or arguments.get("new") or "")),)


def _edits(arguments: Arguments, word: str) -> tuple[Deed, ...]:
    del word
    wanted = arguments.get("edits", ())
    each = [wanted] if isinstance(wanted, Mapping) else wanted if isinstance(wanted, list) else []
    pairs = [(str(e.get("old", "")), str(e.get("new", ""))) for e in each if isinstance(e, Mapping)]
    return tuple(_changed(arguments.get("path"), old, new) for old, new in pairs) or (Deed("edit"),)


def _editor(arguments: Arguments, word: str) -> tuple[Deed, ...]:
    command, lines = arguments.get("command"), arguments.get("range")
    if command == "view":
        first, last = (*lines, "", "")[:2] if isinstance(lines, list) else ("", "")
        return _read({**arguments, "first": first, "last": "" if last == -1 else last}, word)
    known = {"create": _write, "str_replace": _replace, "insert": _insert}.get(str(command))
    return known(arguments, word) if known else (Deed("editor", str(command)),)


def _patch(arguments: Arguments, word: str) -> tuple[Deed, ...]:
    del word
    text = str(arguments.get("patch", ""))
    if len(text) > _LONGEST_COMMAND:
        return (Deed("edit", "", (text,)),)
    if blocks := _BLOCK.findall(text):
        return tuple(_changed(arguments.get("path"), old, new) for old, new in blocks)
    files = list(_FILE.finditer(text))
    ends = [file.start() for file in files[1:]] + [len(text)]
    found = [_patched(file, text[file.end() : end]) for file, end in zip(files, ends, strict=False)]
    return tuple(found) or (Deed("edit", "", (text,)),)


def _patched(file: re.Match[str], body: str) -> Deed:
    path, lines = file[2].strip(), [line for line in body.splitlines() if line[:1] in {"+", "-", " "}]
    old, new = ("\n".join(line[1:] for line in lines if line[0] != other) for other in "+-")
    if file[1] == "Update":
        return _changed(path, old, new)
    return Deed("write", _path(path), (f"{new}\n",)) if file[1] == "Add" else Deed("delete", _path(path))


def _of_kind(kind: str, *roles: str) -> Callable[[Arguments, str], tuple[Deed, ...]]:
    def read(arguments: Arguments, word: str) -> tuple[Deed, ...]:
        del word
        values = [str(arguments.get(role) or "") for role in roles]
        return (Deed(kind, values[0] if values else "", tuple(values[1:])),)

    return read


_BY_OPERATION: Mapping[str, Callable[[Arguments, str], tuple[Deed, ...]]] = {
    "shell": _shell,
    "shells": _shells,
    "read": _read,
    "write": _write,
    "replace": _replace,
    "insert": _insert,
    "editor": _editor,
    "edits": _edits,
    "patch": _patch,
    "find-text": _of_kind("search", "pattern", "path", "files"),
    "find-files": _of_kind("find", "pattern", "path"),
    "list-files": _of_kind("list", "path"),
    "plan": _of_kind("plan"),
    "think": _of_kind("think"),
    "finish": _of_kind("finish"),
}
