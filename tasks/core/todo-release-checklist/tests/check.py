"""Judges the release: a fifth for each of the five files, compared line by line with what it has to be.

Trailing blanks and the newline at the very end are free. A changed check_release.py halves the reward.
"""

import os
from pathlib import Path

from workspace import content, digest_of

CHECKER = "bc5a7b900a144b9452fd2bb6f8fa1aafb5d203ef215c7b2d2bc622b1b9ac243b"
EXPECTED = {
    "VERSION": """4.8.0
""",
    "tidemark/__init__.py": '''"""Tide tables for small harbours."""

__version__ = "4.8.0"

# The format of the files that `tidemark export` writes; it changes only with the format, not with a release.
FORMAT = "4.7"


def user_agent():
    """How the program names itself to a tide server."""
    return f"tidemark/{__version__} (format {FORMAT})"
''',
    "docs/install.md": """# Installing tidemark

Get the archive of release 4.8.0 and unpack it:

    tar xf tidemark-4.8.0.tar.gz
    cd tidemark-4.8.0

Releases before 4.7.0 cannot read files of format 4.7. If you come from 4.6, export your harbours first.

The plotting part needs gnuplot 4.7.2 or later (by chance the same number as ours at the time of writing).

## Checking what you have

`tidemark --version` must print `tidemark 4.8.0`.
""",
    "CHANGELOG.md": """# Changelog

## Unreleased

## 4.8.0 (2031-05-06)

- Fixed: springs and neaps were swapped south of the equator.
- Added: `tidemark compare` shows two harbours side by side.
- Fixed: an empty harbour list no longer ends in a traceback.

## 4.7.2 (2031-02-17)

- Fixed: the 4.7.1 archive lacked the French harbours.

## 4.7.1 (2031-02-16)

- Fixed: high water at midnight belongs to the new day.

## 4.7.0 (2030-12-01)

- Added: format 4.7 with heights in millimetres.
""",
    "RELEASING.md": """# Releasing tidemark

The next number follows from what stands under `Unreleased` in the changelog:

- a line that begins with `- Removed:` asks for the next major release (5.3.1 becomes 6.0.0),
- otherwise a line that begins with `- Added:` asks for the next minor release (5.3.1 becomes 5.4.0),
- otherwise it is a patch release (5.3.1 becomes 5.3.2).

Checklist of this release; put an `x` between the brackets of each line when it is done:

- [x] `VERSION` holds the new number.
- [x] `__version__` in `tidemark/__init__.py` is the new number.
- [x] `docs/install.md` names the new release where it speaks of the current one: in four places.
- [x] In `CHANGELOG.md` the heading `Unreleased` becomes the new number with the day in parentheses, as below it.
- [x] Above it stands a new, empty heading `## Unreleased`, with one empty line before and after it.
- [x] The last line of this file names the new release as the last one.

Last release: 4.8.0
""",
}


def lines(text: str) -> list[str]:
    """The lines without blanks at their ends."""
    return [line.rstrip() for line in text.rstrip().split("\n")]


def right(name: str) -> bool:
    """Whether one of the files is what it has to be; X is as good as x in the checklist."""
    found = content(name).decode("utf-8", "replace")
    found, expected = lines(found.replace("- [X]", "- [x]")), lines(EXPECTED[name])
    if found != expected:
        print(f"{name}: wrong or missing: {sorted(set(expected).symmetric_difference(found))[:4]!a}")
    return found == expected


def unchanged() -> bool:
    """Whether the checker is the one that was given."""
    return digest_of("check_release.py") == CHECKER


done = [name for name in EXPECTED if right(name)]
same = unchanged()
print(f"right: {done}; check_release.py unchanged: {same}")
reward = len(done) / len(EXPECTED) * (1.0 if same else 0.5)
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")
