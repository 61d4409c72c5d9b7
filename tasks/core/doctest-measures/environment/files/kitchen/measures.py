"""Amounts in recipes: lines such as '1 1/2 cups flour' are read, scaled, added and shown."""

import re
from fractions import Fraction

_PLURALS = {"cup": "cups", "spoon": "spoons", "pinch": "pinches", "loaf": "loaves", "g": "g", "ml": "ml"}
_SINGULARS = {plural: unit for unit, plural in _PLURALS.items()}


def _split(amount):
    """The whole part of an amount, and what is left of it."""
    whole = amount.numerator // amount.denominator
    return whole, amount - whole


def _value(text):
    """The amount that a text such as '1 1/2' stands for."""
    return sum((Fraction(part) for part in text.split()), Fraction(0))


def _word(amount, unit):
    """The unit as it is written behind this amount."""
    return unit if amount == 1 else _PLURALS[unit]


def show(amount):
    """An amount as cooks write it: a whole number, then a proper fraction, and a sign only in front of both.

    >>> show(Fraction(3, 2))
    '1 1/2'
    >>> show(Fraction(3, 4))
    '3/4'
    >>> show(Fraction(0))
    '0'
    >>> show(Fraction(-3, 2))
    '-1 1/2'
    """
    whole, rest = _split(amount)
    return " ".join(str(part) for part in (whole, rest) if part) or "0"


def parse(line):
    """Amount, unit (in the singular) and item of a line; the sign in front of an amount is that of the whole amount.

    >>> parse("1 1/2 cups flour")
    (Fraction(3, 2), 'cup', 'flour')
    >>> parse("1 loaf rye bread")
    (Fraction(1, 1), 'loaf', 'rye bread')
    >>> parse("-1 1/2 cups flour")
    (Fraction(-3, 2), 'cup', 'flour')
    """
    amount, unit, item = re.fullmatch(r"(-?[\d/ ]*\d) +(\w+) +(.+)", line).groups()
    return _value(amount), _SINGULARS.get(unit, unit), item


def down(amount, step=Fraction(1)):
    """The largest multiple of `step` that is not above the amount.

    >>> down(Fraction(7, 4), Fraction(1, 2))
    Fraction(3, 2)
    >>> down(Fraction(-7, 4), Fraction(1, 2))
    Fraction(-2, 1)
    """
    return _split(amount / step)[0] * step


def scale(line, factor):
    """The line for so many times the amount. The unit is in the singular behind all amounts from -1 to 1 except 0.

    >>> scale("1 1/2 cups flour", 2)
    '3 cups flour'
    >>> scale("3 cups flour", Fraction(1, 6))
    '1/2 cup flour'
    >>> scale("3 cups flour", 0)
    '0 cups flour'
    """
    amount, unit, item = parse(line)
    amount *= factor
    return f"{show(amount)} {_word(amount, unit)} {item}"


def total(lines):
    """One line for each pair of unit and item, in the order in which they first come, with the sum of their amounts.

    >>> total(["3/4 cup milk", "1 pinch salt", "3/4 cup milk"])
    ['1 1/2 cups milk', '1 pinch salt']
    """
    sums = {}
    for line in lines:
        amount, unit, item = parse(line)
        sums[unit, item] = sums.get((unit, item), 0) + amount
    return [scale(f"{amount} {unit} {item}", 1) for (unit, item), amount in sums.items()]
