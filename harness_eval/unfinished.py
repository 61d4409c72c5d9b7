"""Where folders are made that appear under their name only when they are complete, whoever else makes the same ones."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness_eval.sandboxes import owner

_PREFIX = ".unfinished-"  # suites leave out names with a dot in front


def settle(finished: Path, place: Path) -> bool:
    """Give a finished folder its name; False where another process was faster, and something stands there."""
    try:
        finished.rename(place)
    except OSError:
        if not place.is_dir():
            raise
        return False
    return True


@contextmanager
def unfinished(beside: Path) -> Iterator[Path]:
    """A folder of this process alone within `beside`, gone at the end; what killed processes left there goes too."""
    beside.mkdir(parents=True, exist_ok=True)
    for left in beside.glob(f"{_PREFIX}*"):
        if owner.gone(owner.token_in(left.name, _PREFIX)):
            shutil.rmtree(left, ignore_errors=True)
    place = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{owner.token()}-", dir=beside))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
