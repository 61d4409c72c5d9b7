"""The action of this repository and what runs its steps."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def composite() -> ModuleType:
    """The module .ci/composite.py."""
    spec = importlib.util.spec_from_file_location("composite", ROOT / ".ci/composite.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["composite"] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module
