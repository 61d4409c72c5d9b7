"""What the gate keeps of a run at one endpoint: which trials were solved, of what, and what answered.

A baseline is such a snapshot in a small file, to be committed; the new run becomes one too, so that both sides of a
check are of one kind.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from harness_eval.types import Json

SCHEMA: Literal["harness-eval/baseline/1"] = "harness-eval/baseline/1"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Answering(_Part):
    """What answered: all of its configuration that decides what comes back, and what the server said of itself.

    Neither its address nor anything secret is in it. `served_as` holds models and fingerprints as replies named them.
    """

    name: str
    model: str
    scripted: bool = False
    settings: dict[str, Json] = {}
    served_as: tuple[str, ...] = ()


class SnapshotTask(_Part):
    """A task by its content; the digest is null where results come from elsewhere."""

    name: str
    suite: str = ""
    digest: str | None = None
    group: str | None = None


class SnapshotHarness(_Part):
    """A harness by its content, and what became of its trials.

    `solved` has one string a repeat and in it one character a task, in the order of `tasks`: 1 solved, 0 not solved,
    x lost, . not run. `labels` counts judged trials by label.
    """

    name: str
    id: str | None = None
    version: str | None = None
    wire: str | None = None
    solved: tuple[str, ...]
    labels: dict[str, int] = {}


class Snapshot(_Part):
    """A run at one endpoint, as a baseline's file holds it."""

    schema_: Literal["harness-eval/baseline/1"] = Field(default=SCHEMA, alias="schema")
    name: str
    created: str | None
    seed: int
    versions: dict[str, str]
    endpoint: Answering
    sandbox: str | None = None
    recovery: str | None = None
    limits: dict[str, float | None] = {}
    canonical: str | None
    tasks: tuple[SnapshotTask, ...]
    harnesses: tuple[SnapshotHarness, ...]
    lost: dict[str, int] = {}
