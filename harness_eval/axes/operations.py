"""What tools do, whatever they are called: shell, reading, writing, editing and searching in the sandbox.

Each operation takes its arguments under fixed names (the roles of parameters) and returns text as a model reads it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from harness_eval.axes.desk import Desk
from harness_eval.axes.patch import PatchError, apply_patch_text
from harness_eval.axes.tool import Outcome
from harness_eval.sandboxes.base import Executed

Arguments = Mapping[str, Any]


def _seconds(milliseconds: float) -> float:
    return milliseconds / 1000 if abs(milliseconds) < 1e12 else 0.0


async def shell(desk: Desk, arguments: Arguments) -> Outcome:
    """Roles: command (text or argument list), seconds or milliseconds (time limit), directory."""
    command = arguments.get("command", "")
    if not isinstance(command, str):
        command = shlex.join(str(word) for word in command)
    if arguments.get("directory"):
        command = f"cd {shlex.quote(str(arguments['directory']))} && {{ {command}\n}}"
    asked = arguments.get("seconds") or 0, _seconds(arguments.get("milliseconds") or 0)
    # Zero, negative and enormous limits mean none of the model's own: the harness's holds in any case.
    seconds = next((float(each) for each in asked if 0 < each < desk.command_timeout), None)
    done = await desk.run(command, timeout=seconds)
    said = [done.output.rstrip("\n")]
    if done.timed_out:
        said.append("[timed out; everything the command started was ended]")
    elif done.exit_code:
        said.append(f"[exit code {done.exit_code}]")
    if done.held:
        said.append("[a background process holds the output open; what it writes from now on is not shown]")
    text = "\n".join(part for part in said if part)
    return Outcome(text or "[no output]", done.timed_out or bool(done.exit_code), _met(done))


def _met(done: Executed) -> tuple[str, ...]:
    """Labels of what the box had to do about a command."""
    flood = done.full_length > len(done.output)
    hang = done.timed_out or done.held
    return ("sandbox.output_limit",) * flood + ("sandbox.exec_hang",) * hang


async def shells(desk: Desk, arguments: Arguments) -> Outcome:
    """Roles: commands (a list of commands, or of objects that hold one under `keystrokes` or `command`), in order."""
    outcomes = []
    for entry in arguments.get("commands", ()):
        command = str(entry.get("keystrokes", entry.get("command", "")) if isinstance(entry, dict) else entry)
        outcomes.append(await shell(desk, {"command": command}))
    text = "\n".join(outcome.text for outcome in outcomes) or "[no output]"
    met = tuple(label for outcome in outcomes for label in outcome.labels)
    return Outcome(text, any(outcome.failed for outcome in outcomes), met)


async def _text(desk: Desk, path: str) -> str | Outcome:
    try:
        return (await desk.sandbox.read(path)).decode("utf-8", "replace")
    except FileNotFoundError:
        return Outcome(f"{path}: no such file", failed=True)
    except IsADirectoryError:
        return Outcome(f"{path}: is a directory", failed=True)
    except OSError as error:
        return Outcome(f"{path}: cannot be read: {error.strerror or error}", failed=True)


async def _store(desk: Desk, path: str, text: str, said: str) -> Outcome:
    try:
        await desk.sandbox.write(path, text.encode())
    except OSError as error:
        return Outcome(f"{path}: cannot be written: {error.strerror or error}", failed=True)
    return Outcome(said)


def _numbered(lines: list[str], first: int, style: str) -> str:
    if style == "tab":
        return "\n".join(f"{number:6d}\t{line}" for number, line in enumerate(lines, first))
    if style == "colon":
        return "\n".join(f"{number}: {line}" for number, line in enumerate(lines, first))
    return "\n".join(lines)


async def read(desk: Desk, arguments: Arguments) -> Outcome:
    """Roles: path, first (line, from 1), count, last (line), numbering (none, tab or colon)."""
    path = str(arguments.get("path", ""))
    text = await _text(desk, path)
    if isinstance(text, Outcome):
        return text
    lines = text.splitlines()
    first = max(1, int(arguments.get("first", 1)))
    last = int(arguments.get("last", 0)) or len(lines)
    if arguments.get("count"):
        last = min(last, first + int(arguments["count"]) - 1)
    if lines and first > len(lines):
        return Outcome(f"{path} has only {len(lines)} lines", failed=True)
    return Outcome(_numbered(lines[first - 1 : last], first, str(arguments.get("numbering", "none"))) or "[empty file]")


async def write(desk: Desk, arguments: Arguments) -> Outcome:
    """Roles: path, text."""
    path = str(arguments.get("path", ""))
    return await _store(desk, path, str(arguments.get("text", "")), f"wrote {path}")


async def replace(desk: Desk, arguments: Arguments) -> Outcome:
    """Roles: path, old, new, every (replace all). `old` must occur exactly once unless `every` is true."""
    path, old, new = (str(arguments.get(role, "")) for role in ("path", "old", "new"))
    text = await _text(desk, path)
    if isinstance(text, Outcome):
        return text
    found = text.count(old) if old else 0
    if not found:
        return Outcome(f"{path}: the text to replace does not occur in the file", failed=True)
    if found > 1 and not arguments.get("every"):
        return Outcome(f"{path}: the text to replace occurs {found} times; give more of its surroundings", failed=True)
    return await _store(desk, path, text.replace(old, new), f"edited {path}")


async def insert(desk: Desk, arguments: Arguments) -> Outcome:
    """Roles: path, line (insert after it; 0 is the beginning), text."""
    path, line = str(arguments.get("path", "")), int(arguments.get("line", 0))
    text = await _text(desk, path)
    if isinstance(text, Outcome):
        return text
    lines = text.splitlines(keepends=True)
    if not 0 <= line <= len(lines):
        return Outcome(f"{path}: line {line} is outside 0..{len(lines)}", failed=True)
    added = str(arguments.get("text", ""))
    lines.insert(line, added if added.endswith("\n") else f"{added}\n")
    return await _store(desk, path, "".join(lines), f"edited {path}")


async def editor(desk: Desk, arguments: Arguments) -> Outcome:
    """One tool for all: role command (view, create, str_replace, insert) and the roles of those operations."""
    command = arguments.get("command")
    if command == "view":
        first, last = [*(arguments.get("range") or (1,)), -1][:2]
        shown = {"path": arguments.get("path", ""), "first": first, "last": 0 if last == -1 else last}
        return await read(desk, {**shown, "numbering": "tab"})
    if command == "create":
        return await write(desk, {"path": arguments.get("path", ""), "text": arguments.get("text", "")})
    if command == "str_replace":
        return await replace(desk, arguments)
    if command == "insert":
        return await insert(desk, {**arguments, "text": arguments.get("new", "")})
    return Outcome(f"unknown command {command!r}; it takes view, create, str_replace or insert", failed=True)


async def edits(desk: Desk, arguments: Arguments) -> Outcome:
    """Roles: path, edits (one object or a list of objects with `old`, `new`, `replace_all`), applied in order."""
    wanted = arguments.get("edits", ())
    outcome = Outcome("nothing to do", failed=True)
    for edit in [wanted] if isinstance(wanted, Mapping) else wanted:
        named = {"path": arguments.get("path", ""), "old": edit.get("old", ""), "new": edit.get("new", "")}
        outcome = await replace(desk, {**named, "every": edit.get("replace_all", False)})
        if outcome.failed:
            break
    return outcome


async def patch(desk: Desk, arguments: Arguments) -> Outcome:
    """Role: patch, in the `*** Begin Patch` form or as search/replace blocks with role path."""
    text = str(arguments.get("patch", ""))
    default_path = str(arguments.get("path", ""))
    try:
        changed = await apply_patch_text(desk.sandbox, text, default_path)
    except PatchError as error:
        return Outcome(str(error), failed=True)
    except OSError as error:
        return Outcome(f"the patch could not be written: {error.strerror or error}", failed=True)
    return Outcome(f"patched {', '.join(changed)}")


async def find_text(desk: Desk, arguments: Arguments) -> Outcome:
    """Roles: pattern (extended regular expression), path, files (a glob that narrows the files)."""
    where = shlex.quote(str(arguments.get("path") or "."))
    only = f"--include={shlex.quote(str(arguments['files']))} " if arguments.get("files") else ""
    pattern = shlex.quote(str(arguments.get("pattern", "")))
    done = await desk.sandbox.run(f"grep -rnE {only}-e {pattern} -- {where}", timeout=desk.command_timeout)
    if done.exit_code == 1:
        return Outcome("no match")
    return Outcome(done.output.rstrip("\n"), bool(done.exit_code), _met(done))


async def find_files(desk: Desk, arguments: Arguments) -> Outcome:
    """Roles: pattern (a glob on names or paths), path."""
    where = shlex.quote(str(arguments.get("path") or "."))
    pattern = str(arguments.get("pattern", "*"))
    test = (
        f"-path {shlex.quote('*' + pattern.removeprefix('**'))}" if "/" in pattern else f"-name {shlex.quote(pattern)}"
    )
    done = await desk.sandbox.run(f"find {where} {test} | sort | head -n 500", timeout=desk.command_timeout)
    return Outcome(done.output.rstrip("\n") or "no file matches", failed=bool(done.exit_code))


async def list_files(desk: Desk, arguments: Arguments) -> Outcome:
    """Role: path."""
    where = shlex.quote(str(arguments.get("path") or "."))
    done = await desk.sandbox.run(f"ls -1pA -- {where}", timeout=desk.command_timeout)
    return Outcome(done.output.rstrip("\n") or "[empty]", failed=bool(done.exit_code))


async def plan(desk: Desk, arguments: Arguments) -> Outcome:
    """Role: items, a list of objects with a text (`content`, `title` or `step`) and a `status`, or one text."""
    items = arguments.get("items", ())
    if isinstance(items, str):
        items = [{"content": line.strip(" -*"), "status": "pending"} for line in items.splitlines() if line.strip()]
    desk.plan = [
        {
            "content": str(item.get("content") or item.get("title") or item.get("step") or ""),
            "status": str(item.get("status", "pending")),
        }
        for item in items
        if isinstance(item, dict)
    ]
    done = sum(item["status"] in {"completed", "done"} for item in desk.plan)
    return Outcome(f"plan noted: {len(desk.plan)} items, {done} done")


async def think(desk: Desk, arguments: Arguments) -> Outcome:
    """Role: thought; it changes nothing."""
    del desk, arguments
    return Outcome("noted")


async def finish(desk: Desk, arguments: Arguments) -> Outcome:
    """Role: message; the stopping axis sees that it was called."""
    del desk
    return Outcome(str(arguments.get("message") or "finished"))
