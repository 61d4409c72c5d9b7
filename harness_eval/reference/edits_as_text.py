"""Edits written as text for tools that take a patch or search-and-replace blocks, both of which need whole lines."""

from __future__ import annotations


def whole_lines(old: str, new: str, content: str | None) -> tuple[str, str] | None:
    """The same edit over whole lines, each side ending in a newline or empty.

    Args:
        old: text that occurs exactly once in the file.
        new: what replaces it.
        content: the file, as far as it was seen; None if it was not.

    Returns:
        None where the lines around the edit are not known.
    """
    content = f"{content.removesuffix(chr(10))}\n" if content is not None else ""  # readers drop the last newline
    if content.count(old) == 1:
        start = content.index(old)
        end = start + len(old)
        first = content.rfind("\n", 0, start) + 1
        last = end if old.endswith("\n") else content.find("\n", end) + 1
        old, new = content[first:last], content[first:start] + new + content[end:last]
    whole = old.endswith("\n") and (new.endswith("\n") or not new)
    return (old, new) if whole else None


def patch_update(path: str, old: str, new: str) -> str:
    """A patch that replaces these whole lines of a file."""
    return _patch(f"*** Update File: {path}", _marked("-", old) + _marked("+", new))


def patch_add(path: str, text: str) -> str:
    """A patch that makes a file of these whole lines."""
    return _patch(f"*** Add File: {path}", _marked("+", text))


def search_and_replace(old: str, new: str) -> str:
    """One block that replaces these whole lines."""
    return f"<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE"


def _patch(header: str, lines: str) -> str:
    return f"*** Begin Patch\n{header}\n{lines}*** End Patch"


def _marked(mark: str, lines: str) -> str:
    return "".join(f"{mark}{line}\n" for line in lines.split("\n")[:-1])
