"""What templates do with values."""

from weir import layout, numbers, words


def filter_title(value):
    """With a capital."""
    return str(value).capitalize()


def filter_unit(value):
    """A number with narrow blanks."""
    return words.spaced(value)


def filter_stars(value):
    """A star for each ten."""
    return "*" * (value // 10)


def filter_quoted(value):
    """Each line with a mark in front."""
    return "\n".join("> " + layout.padded(line, 1) for line in value.splitlines())


def filter_shout(value):
    """In capitals."""
    return str(value).upper()


def filter_roman(value):
    """In Roman numerals."""
    return words.roman(value)


def filter_ago(value):
    """As a time in the past."""
    return f"{numbers.clipped(value)} ago"
