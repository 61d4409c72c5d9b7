"""What the frames rely on in study.json."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from harness_eval import config, store
from harness_eval.types import Json


class _Task(BaseModel):
    name: str
    stresses: list[str] | None = None


class _Harness(BaseModel):
    name: str
    labels: dict[str, str] | None = None


class _Study(BaseModel):
    tasks: list[_Task] | None = None
    harnesses: list[_Harness] | None = None


def read_study(folder: Path) -> dict[str, Json]:
    """The study of a run's folder.

    Raises:
        ConfigError: there is none, or it is damaged, with the key.
    """
    study = store.read_study(folder)
    config.parse(_Study, study, str(folder / store.STUDY))
    return study
