"""Edits as text: the `*** Begin Patch` form of apply-patch tools, and search/replace blocks."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

from harness_eval.sandboxes.base import Sandbox

_BLOCK = re.compile(r"<{5,9} SEARCH\n(?::start_line:\s*\d+\n-*\n)?(.*?)\n?={5,9}\n(.*?)\n?>{5,9} REPLACE", re.DOTALL)


class PatchError(Exception):
    """The patch cannot be read or does not fit; the text is for the model."""


@dataclass(slots=True)
class _FilePatch:
    kind: str
    path: str
    lines: list[str] = field(default_factory=list)


def _split(text: str) -> list[_FilePatch]:
    lines = text.strip().splitlines()
    if not lines or lines[0].strip() != "*** Begin Patch" or lines[-1].strip() != "*** End Patch":
        raise PatchError("a patch starts with '*** Begin Patch' and ends with '*** End Patch'")
    files: list[_FilePatch] = []
    for line in lines[1:-1]:
        header = re.match(r"\*\*\* (Add|Update|Delete) File: (.+)", line)
        if header:
            files.append(_FilePatch(header.group(1), header.group(2).strip()))
        elif not files:
            raise PatchError(f"expected '*** Add File:', '*** Update File:' or '*** Delete File:', got {line!r}")
        else:
            files[-1].lines.append(line)
    if not files:
        raise PatchError("the patch names no file")
    return files


def _hunks(lines: list[str]) -> list[tuple[str, str]]:
    hunks: list[tuple[list[str], list[str]]] = [([], [])]
    for line in lines:
        if line.startswith(("@@", "*** End of File")):
            hunks.append(([], []))
            continue
        mark, rest = line[:1] or " ", line[1:]
        if mark not in " +-":
            raise PatchError(f"each line of a change starts with ' ', '+' or '-', got {line!r}")
        if mark in " -":
            hunks[-1][0].append(rest)
        if mark in " +":
            hunks[-1][1].append(rest)
    return [("\n".join(old), "\n".join(new)) for old, new in hunks if old or new]


def _replaced(text: str, old: str, new: str, path: str) -> str:
    found = text.count(old) if old else 0
    if found != 1:
        raise PatchError(f"{path}: the old lines occur {found} times, they must occur exactly once")
    return text.replace(old, new)


def _updated(text: str, lines: list[str], path: str) -> str:
    for old, new in _hunks(lines):
        # Whole lines only: the frame of newlines keeps 'port = 1' from matching inside 'port = 10'.
        old_lines, new_lines = f"\n{old}\n" if old else "", f"\n{new}\n" if new else "\n"
        text = _replaced(f"\n{text}" if text.endswith("\n") else f"\n{text}\n", old_lines, new_lines, path)[1:]
    return text


async def apply_patch_text(sandbox: Sandbox, text: str, default_path: str = "") -> list[str]:
    """Apply a patch in the sandbox and return the paths changed, none of them if any part does not fit.

    Raises:
        PatchError: if it cannot be read, a file is missing, or old lines are not found exactly once.
    """
    blocks = _BLOCK.findall(text)
    changes: dict[str, str | None] = {}
    if blocks and default_path:
        content = await _content(sandbox, default_path)
        for old, new in blocks:
            content = _replaced(content, old, new, default_path)
        changes[default_path] = content
    else:
        for file in _split(text):
            changes[file.path] = await _change(sandbox, file)
    for path, content_or_none in changes.items():
        if content_or_none is None:
            await sandbox.run(f"rm -f -- {shlex.quote(path)}")
        else:
            await sandbox.write(path, content_or_none.encode())
    return list(changes)


async def _change(sandbox: Sandbox, file: _FilePatch) -> str | None:
    if file.kind == "Delete":
        await _content(sandbox, file.path)
        return None
    if file.kind == "Add":
        bad = [line for line in file.lines if not line.startswith("+")]
        if bad:
            raise PatchError(f"{file.path}: each line of a new file starts with '+', got {bad[0]!r}")
        return "".join(f"{line[1:]}\n" for line in file.lines)
    return _updated(await _content(sandbox, file.path), file.lines, file.path)


async def _content(sandbox: Sandbox, path: str) -> str:
    try:
        return (await sandbox.read(path)).decode("utf-8", "replace")
    except FileNotFoundError:
        raise PatchError(f"{path}: no such file") from None
    except OSError as error:
        raise PatchError(f"{path}: cannot be read: {error.strerror or error}") from None
