from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conversation import Conversation, make_task


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A folder with the one task of these tests."""
    folder = tmp_path / "own"
    make_task(folder)
    return folder


@pytest.fixture
def talk(suite: Path) -> Callable[..., Conversation]:
    """Starts a conversation under the canonical harness, except for the levels that are given."""

    def started(**options: Any) -> Conversation:
        return Conversation(suite, **options)

    return started
