"""Numbers as text."""

ROMAN = ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))


def spaced(value):
    """1 234 567"""
    return f"{value:,}".replace(",", " ")


def roman(value):
    """The number in Roman numerals."""
    text = ""
    for size, letters in ROMAN:
        while value >= size:
            text, value = text + letters, value - size
    return text


def plural(value, word):
    """The word for so many; used by count_rows() in hooks.py."""
    return word if value == 1 else word + "s"
