"""Pieces of text."""


def padded(text, width):
    """The text with blanks up to the width."""
    return text.ljust(width)


def element(name, text):
    """An element of XML."""
    return f"<{name}>{escaped(text)}</{name}>"


def escaped(text):
    """The text as XML wants it."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def ruled(cells):
    """One row of a table with lines."""
    return "| " + " | ".join(padded(cell, 8) for cell in cells) + " |"


def centred(text, width):
    """The text in the middle; `padded` puts it to the left."""
    return text.center(width)
