"""From text to nested dictionaries."""

from typing import Any

ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


class ParseError(ValueError):
    """The text is not in the format; the message names the line."""


def parse(text: str) -> dict[str, Any]:
    """The text as nested dictionaries whose values are strings or lists of strings."""
    root: dict[str, Any] = {}
    section = root
    for number, raw in logical_lines(text):
        line = strip_comment(raw).strip()
        if not line:
            continue
        if line.startswith("["):
            section = open_section(root, line, number)
            continue
        key, equals, value = line.partition("=")
        if not equals or not key.strip():
            raise ParseError(f"line {number}: expected key = value")
        section[key.strip()] = parse_value(value.strip(), number)
    return root


def logical_lines(text: str) -> list[tuple[int, str]]:
    """The lines with continuations joined, each with the number of its first line."""
    lines: list[tuple[int, str]] = []
    joining = False
    for number, line in enumerate(text.splitlines(), 1):
        if joining:
            first, start = lines.pop()
            lines.append((first, start + line.lstrip()))
        else:
            lines.append((number, line))
        joining = lines[-1][1].endswith("\\")
        if joining:
            first, start = lines.pop()
            lines.append((first, start[:-1]))
    return lines


def strip_comment(line: str) -> str:
    """The line without its comment: a # at the start or after a blank, outside quotes."""
    quoted = False
    for at, character in enumerate(line):
        if character == '"':
            quoted = not quoted
        elif character == "#" and not quoted and (at == 0 or line[at - 1] in " \t"):
            return line[:at]
    return line


def open_section(root: dict[str, Any], line: str, number: int) -> dict[str, Any]:
    """The section that a header names, made where it is new."""
    if not line.endswith("]"):
        raise ParseError(f"line {number}: the header is not closed")
    section = root
    for part in line[1:-1].split("."):
        if not part.strip():
            raise ParseError(f"line {number}: a section needs a name")
        section = section.setdefault(part.strip(), {})
        if not isinstance(section, dict):
            raise ParseError(f"line {number}: {part.strip()} is a value already")
    return section


def parse_value(text: str, number: int) -> str | list[str]:
    """One value: a list, a quoted text or bare text."""
    if not text.startswith("["):
        return unquote(text, number)
    if not text.endswith("]"):
        raise ParseError(f"line {number}: the list is not closed")
    items = [unquote(item, number) for item in split_items(text[1:-1])]
    return [item for item in items if item]


def split_items(text: str) -> list[str]:
    """The items between commas outside quotes, trimmed and still quoted."""
    items = [""]
    quoted = escaped = False
    for character in text:
        if character == "," and not quoted:
            items.append("")
            continue
        if character == '"' and not escaped:
            quoted = not quoted
        escaped = character == "\\" and not escaped
        items[-1] += character
    return [item.strip() for item in items]


def unquote(text: str, number: int) -> str:
    """A quoted text with its escapes resolved; bare text as it is."""
    if not text.startswith('"'):
        return text
    result, at = "", 1
    while at < len(text):
        character = text[at]
        if character == '"':
            if text[at + 1 :]:
                raise ParseError(f"line {number}: text after the closing quote")
            return result
        if character == "\\":
            at += 1
            if text[at : at + 1] not in ESCAPES:
                raise ParseError(f"line {number}: unknown escape")
            character = ESCAPES[text[at]]
        result += character
        at += 1
    raise ParseError(f"line {number}: the quote is not closed")
