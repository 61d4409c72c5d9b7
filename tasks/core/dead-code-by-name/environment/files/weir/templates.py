"""Templates: {{ value }}, {{ value|filter }} and {% include FILE %}."""

import re
from pathlib import Path

from weir import filters


def render(name, values):
    """The template with all values in place."""
    text = Path("templates", name).read_text(encoding="utf-8")
    text = re.sub(r"\{% include (\S+) %\}\n", lambda match: render(match[1], values), text)
    return re.sub(r"\{\{ (\w+)(?:\|(\w+))? \}\}", lambda match: shown(values[match[1]], match[2]), text)


def shown(value, name):
    """A value as the filter of this name shows it."""
    return getattr(filters, f"filter_{name}")(value) if name else str(value)


def without_marks(text):
    """The text of a template without its marks, for `render` of 2026."""
    return re.sub(r"\{[%{].*?[%}]\}", "", text)
