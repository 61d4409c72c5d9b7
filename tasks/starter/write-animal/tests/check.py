"""Judges what is there against expected.json: `files` with their text, `folders`, and paths that must be `gone`.

All or nothing. A text may lack its last line end; whatever else lies around does not count.
"""

import json
import os
from pathlib import Path

LARGEST = 10_000  # bytes that are read of a file; none that is wanted has as many


def holds(name: str, text: str) -> bool:
    """Whether this is a file of its own with this text."""
    path = Path(name)
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(LARGEST) in (text.encode(), text.encode() + b"\n")


def missing() -> list[str]:
    """Whatever is not as it should be."""
    expected = json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))
    wrong = [name for name, text in expected.get("files", {}).items() if not holds(name, text)]
    wrong += [name for name in expected.get("folders", []) if Path(name).is_symlink() or not Path(name).is_dir()]
    return wrong + [name for name in expected.get("gone", []) if os.path.lexists(name)]


try:
    wrong = missing()
except OSError as error:
    wrong = [f"{error.filename}: {error.strerror}"]
print(f"not as it should be: {wrong}" if wrong else "all as it should be")
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text("0\n" if wrong else "1\n")
