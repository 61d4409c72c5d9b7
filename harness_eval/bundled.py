"""Where the files that travel with the package are: in the wheel, or in the repository it is run from."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_IN_REPOSITORY = {
    "tasks": "tasks",
    "harnesses": "harnesses",
    "templates": "reports/templates",
    "schemas": "reports/schemas",
}


def folder(name: str) -> Path:
    """The folder `tasks`, `harnesses`, `templates` or `schemas`.

    Raises:
        KeyError: for any other name.
        FileNotFoundError: if neither the wheel's nor the repository's copy is there.
    """
    inside = _IN_REPOSITORY[name]
    for candidate in (_PACKAGE / "data" / name, _PACKAGE.parent / inside):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"the package's {name} folder is missing; is the installation complete?")
