"""The files of a compatibility matrix, and the one that a repository keeps and that is brought up to date in place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from harness_eval import recording
from harness_eval.errors import ConfigError
from harness_eval.report.compat_csv import table
from harness_eval.report.compat_grid import Data
from harness_eval.report.compat_markdown import markdown
from harness_eval.report.compat_page import page
from harness_eval.report.whole import encode, encode_json, fill, replace

FILES = ("compatibility.md", "compatibility.html", "compatibility.csv", "compatibility.json")
BEGIN, END = "<!-- harness-eval compat: begin -->", "<!-- harness-eval compat: end -->"
_TITLE = "# Compatibility"
_FENCED = re.compile(
    rb"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n(?:.*?^ {0,3}(?P=fence)[`~]*[ \t]*\r?$|.*)", re.MULTILINE | re.DOTALL
)
_INTRODUCTION = f"{_TITLE}\n\n{BEGIN}\n{END}\n"


def write(data: Data, folder: Path) -> None:
    """Write compatibility.md, .html, .csv and .json; each is replaced as a whole.

    Raises:
        ConfigError: the folder cannot be written.
    """
    forms = (encode(markdown(data)), encode(page(data)), encode(table(data)), encode_json(data))
    fill(folder, dict(zip(FILES, forms, strict=True)))


def update(data: Data, path: Path) -> None:
    """Bring a Markdown file up to date between its two marker lines, and the document beside it (same stem, .json).

    What stands outside of the markers stays as it is, byte for byte, and so do the file's ends of lines. Markers in a
    fenced block of code do not count. A file that does not exist is made. Nothing is written that would say the same as
    before, whenever it was made.

    Raises:
        ConfigError: the file has no markers, or not each of them once and in order; or it cannot be read or written.
    """
    document = beside(path)
    before = _read(path)
    after = _updated(before or _INTRODUCTION.encode(), encode(markdown(data, title=None)), path)
    if not _says_the_same(_read(document), data):
        replace(document, encode_json(data))
    if after != before:
        replace(path.resolve(), after)  # a link to a file stays one


def beside(path: Path) -> Path:
    """Where the document of a file that is kept up to date lies.

    Raises:
        ConfigError: the path is that of a document itself.
    """
    if path.suffix.lower() == ".json" or not path.name:
        raise ConfigError(f"{path}: this is brought up to date as Markdown; name a file such as COMPATIBILITY.md")
    return path.with_suffix(".json")


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None


def _says_the_same(known: bytes | None, data: Data) -> bool:
    """Whether a document differs from this one in nothing but when it was made."""
    found = recording.load_or_none(known) if known is not None else None
    if not isinstance(found, Mapping):
        return False
    same: bool = dict(found) | {"made": None} == recording.load(recording.dump(dict(data) | {"made": None}))
    return same


def shows_a_matrix(path: Path) -> bool:
    """Whether anything stands between the markers of a file.

    Raises:
        ConfigError: it has no sound markers, or cannot be read.
    """
    text = _read(path)
    if text is None:
        return False
    start, end = _place(text, path)
    return bool(text[start:end].strip())


def _updated(text: bytes, block: bytes, path: Path) -> bytes:
    """The file with another block between its markers."""
    start, end = _place(text, path)
    newline = b"\r\n" if text[:start].endswith(b"\r\n") else b"\n"
    return text[:start] + (b"\n" + block.strip() + b"\n\n").replace(b"\n", newline) + text[end:]


def _place(text: bytes, path: Path) -> tuple[int, int]:
    """Where the place between the markers begins and ends; what is quoted as code is no marker."""
    shown = _FENCED.sub(lambda found: b" " * len(found[0]), text)
    places = {marker: [found.span() for found in _lines(marker).finditer(shown)] for marker in (BEGIN, END)}
    if not places[BEGIN] and not places[END]:
        raise ConfigError(f"{path}: has no place for the matrix; put two lines there: {BEGIN} and {END}")
    if wrong := _damage(places):
        raise ConfigError(f"{path}: {wrong}; needed are two lines, each once: {BEGIN} and below it {END}")
    return places[BEGIN][0][1], places[END][0][0]


def _lines(marker: str) -> re.Pattern[bytes]:
    """A marker that stands on a line of its own, with the end of that line."""
    return re.compile(rb"^(?:\xef\xbb\xbf)?[ \t]*" + re.escape(marker.encode()) + rb"[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


def _damage(places: Mapping[str, list[tuple[int, int]]]) -> str:
    for marker, found in places.items():
        if len(found) != 1:
            return f"{marker} is missing" if not found else f"{marker} stands there {len(found)} times"
    return "the two markers stand in the wrong order" if places[BEGIN][0] > places[END][0] else ""
