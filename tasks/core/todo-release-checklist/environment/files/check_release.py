"""Looks for some mistakes of earlier releases; prints what it sees and ends with 1 if anything is wrong."""

import re
import sys
from pathlib import Path


def numbers():
    """Each place that names the current release, with the number it names."""
    places = {
        "VERSION": r"^(\S+)$",
        "tidemark/__init__.py": r'^__version__ = "(.*)"$',
        "docs/install.md": r"tidemark-(.*)\.tar\.gz",
        "CHANGELOG.md": r"^## (\d\S*) \(",
        "RELEASING.md": r"^Last release: (.*)$",
    }
    for name, pattern in places.items():
        found = re.search(pattern, Path(name).read_text(encoding="utf-8"), re.MULTILINE)
        yield name, found.group(1) if found else "nothing"


def main():
    """Print the numbers, and what is still open."""
    named = dict(numbers())
    for name, number in named.items():
        print(f"{name}: {number}")
    open_items = Path("RELEASING.md").read_text(encoding="utf-8").count("- [ ]")
    print(f"{open_items} items of the checklist are open")
    wrong = len(set(named.values())) > 1 or open_items > 0
    print("not ready" if wrong else "numbers agree")
    return wrong


sys.exit(main())
