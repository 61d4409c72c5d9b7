"""What can be done with a shell alone: files made, edited and searched by commands that are safe in any wire format."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

_END = "END_OF_FILE"
_MARKUP = re.compile(r"[<`｜]")
_STATEFUL = re.compile(r"(?:^|[;&|(]|\s)(?:cd|exit|exec|set|trap|export)\s")

_ESCAPES = (
    {"\\": "\\\\", "'": "\\'"}
    | {c: f"\\x{ord(c):02x}" for c in "\n\r\v\f\x1c\x1d\x1e"}
    | {c: f"\\u{ord(c):04x}" for c in "\x85\u2028\u2029"}
)

_EDIT = """\
import pathlib, sys
file = pathlib.Path({path})
old, new = {old}.encode(), {new}.encode()
data = file.read_bytes()
if new in data and (old in new or old not in data):
    print("already edited", file)
elif data.count(old) == 1:
    file.write_bytes(data.replace(old, new))
    print("edited", file)
else:
    sys.exit("the old text was found %d times" % data.count(old))
"""
_CREATE = """\
import pathlib
file = pathlib.Path({path})
file.parent.mkdir(parents=True, exist_ok=True)
file.write_bytes({text}.encode())
print("wrote", file)
"""
_SEARCH = """\
import re, sys
text = sys.stdin.read()
for pattern in {patterns}:
    found = re.search(pattern, text, re.MULTILINE)
    if found:
        print(found.group(0))
"""


def isolated(command: str) -> str:
    """The command in a subshell where it would change a shell that is kept for later commands."""
    return f"(\n{command}\n)" if _STATEFUL.search(command) else command


def show_file(path: str) -> str:
    """A command that prints a file."""
    return f"cat {shlex.quote(path)}"


def make_file(path: str, text: str) -> str:
    """A command that writes exactly this text to a file."""
    if not text.endswith("\n") or _MARKUP.search(text) or _END in text or "\r" in text:
        return _program(_CREATE.format(path=_literal(path), text=_literal(text)))
    folder = path.rpartition("/")[0]
    before = f"mkdir -p {shlex.quote(folder)} && " if folder else ""
    return f"{before}cat > {shlex.quote(path)} << '{_END}'\n{text}{_END}"


def edit_file(path: str, old: str, new: str) -> str:
    """A command that replaces the only occurrence of a text in a file; done twice, it changes nothing more."""
    return _program(_EDIT.format(path=_literal(path), old=_literal(old), new=_literal(new)))


def on_one_line(command: str) -> str:
    """The command without line breaks."""
    if len(command.splitlines()) < 2:
        return command.strip()
    escaped = "".join(_ESCAPES.get(character, character) for character in command)
    return f"eval $'{escaped}'"


def only_matches(command: str, patterns: Iterable[str]) -> str:
    """A command that prints of another one's output only the first match of each pattern."""
    program = _SEARCH.format(patterns=f"[{', '.join(_literal(pattern) for pattern in patterns)}]")
    return f"{{ {command}\n}} 2>&1 | python3 -c {shlex.quote(program)}"


def _program(source: str) -> str:
    return f"python3 - << 'END_OF_PROGRAM'\n{source}END_OF_PROGRAM"


def _literal(text: str) -> str:
    """A Python literal on one line, without characters that a call's markup could be mistaken for."""
    return _MARKUP.sub(lambda match: f"\\u{ord(match[0]):04x}", repr(text))
