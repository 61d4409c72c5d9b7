"""Lists the loans of a library: python3 shelf.py --help"""

import datetime
import sys

HELP = """\
usage: shelf.py [OPTION]... FILE

Lists the loans in FILE, a CSV file with the columns day,reader,title.

  --format FORM    text or csv (default: text)
  --help           show this text
  --limit N        at most N loans
  --reader NAME    only loans of this reader
  --until DATE     only loans before DATE (YYYY-MM-DD)

Loans come in the order of FILE.
"""


class UsageError(Exception):
    """The command line cannot be understood."""


def parse_day(option, text):
    """A date written as YYYY-MM-DD; anything else is refused."""
    try:
        day = datetime.date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.isoformat() != text:
        raise UsageError(f"{option}: not a date: {text}")
    return day


def parse_limit(option, text):
    """A whole number from 0 on."""
    if not (text.isascii() and text.isdigit()):
        raise UsageError(f"{option}: not a number: {text}")
    return int(text)


def parse_form(option, text):
    """One of the two forms."""
    if text not in ("text", "csv"):
        raise UsageError(f"{option}: neither text nor csv: {text}")
    return text


def parse_name(option, text):
    """Any text."""
    return text


OPTIONS = {
    "--format": parse_form,
    "--limit": parse_limit,
    "--reader": parse_name,
    "--until": parse_day,
}


def parse(arguments):
    """The values by option, and the files."""
    values, files, rest = {}, [], list(arguments)
    while rest:
        word = rest.pop(0)
        option, equals, text = word.partition("=")
        if option in OPTIONS:
            if not equals:
                if not rest:
                    raise UsageError(f"{option} needs a value")
                text = rest.pop(0)
            values[option] = OPTIONS[option](option, text)
        elif word.startswith("-"):
            raise UsageError(f"unknown option {word}")
        else:
            files.append(word)
    if len(files) != 1:
        raise UsageError(f"expected one FILE, not {len(files)}")
    return values, files[0]


def chosen(lines, values):
    """The loans that are to be shown, each as (day, reader, title)."""
    shown = 0
    for line in lines[1:]:
        day, reader, title = line.rstrip("\n").split(",", 2)
        if "--reader" in values and reader != values["--reader"]:
            continue
        if "--until" in values and datetime.date.fromisoformat(day) >= values["--until"]:
            continue
        if "--limit" in values and shown == values["--limit"]:
            break
        shown += 1
        yield day, reader, title


def main(arguments):
    """Run the command; the exit status."""
    if "--help" in arguments:
        print(HELP, end="")
        return 0
    try:
        values, name = parse(arguments)
    except UsageError as problem:
        print(f"shelf: {problem}", file=sys.stderr)
        return 2
    with open(name, encoding="utf-8") as file:
        lines = file.readlines()
    for day, reader, title in chosen(lines, values):
        if values.get("--format") == "csv":
            print(f"{day},{reader},{title}")
        else:
            print(f"{day}  {reader:<12}  {title}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
