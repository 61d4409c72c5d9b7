"""Where the rows come from: pairs of a day and a level, None where it is missing."""

import json

from weir import numbers


def load(path):
    """The rows of a file."""
    return globals()["read_" + path.suffix[1:]](path)


def read_csv(path):
    """Rows separated by commas."""
    return [(day, numbers.whole(level)) for day, level in fields(path, ",")]


def read_tab(path):
    """Rows separated by tabs."""
    return [(day, numbers.whole(level)) for day, level in fields(path, "\t")]


def read_json(path):
    """Rows of an old file, such as old.json."""
    return upgraded(json.loads(path.read_text(encoding="utf-8")))


def fields(path, separator):
    """The parts of each line."""
    return [line.split(separator) for line in path.read_text(encoding="utf-8").splitlines()]


def upgraded(rows):
    """Old rows as new ones."""
    return [(row["day"], numbers.whole(row["level"])) for row in rows]


# load_old() was here until 2027
