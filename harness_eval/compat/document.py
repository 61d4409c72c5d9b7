"""A compatibility matrix as compatibility.json holds it; every other form of it is made from this one."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

Verdict: TypeAlias = Literal["compatible", "degraded", "broken", "unclear", "unsupported"]
SCHEMA: Literal["harness-eval/compatibility/1"] = "harness-eval/compatibility/1"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, allow_inf_nan=False)


class Figure(_Part):
    """An estimate with its limits; proportions, or differences of such; null where it is unknown."""

    estimate: float | None = None
    low: float | None = None
    high: float | None = None


class Margins(_Part):
    """Drops against the canonical harness, 0..1: surely smaller than `compatible` is compatible, surely larger than
    `broken` (never the smaller of both) is broken.
    """

    compatible: float = Field(default=0.10, gt=0, lt=1)
    broken: float = Field(default=0.10, gt=0, lt=1)

    @model_validator(mode="after")
    def _in_order(self) -> Margins:
        if self.broken < self.compatible:
            raise ValueError("broken must not be smaller than compatible")
        return self


class Subject(_Part):
    """A row: one model in one version as it is served somewhere. `id` names it in cells."""

    id: str
    model: str
    version: str | None = None
    serving: str | None = None
    scripted: bool = False


class Column(_Part):
    """A harness by its name, with the version that counts as the current one.

    `measured` is when that was last measured, where no cell says it: only evidence that is left out was so new.
    """

    name: str
    version: str | None = None
    id: str | None = None
    wire: str | None = None
    canonical: bool = False
    measured: str | None = None


class MainLabel(_Part):
    """The label that most of a cell's unsolved trials have, and who must act on it."""

    label: str
    owner: str
    trials: int


class Against(_Part):
    """The canonical harness that a cell is compared with, as it was measured."""

    harness: str
    version: str | None = None
    id: str | None = None
    wire: str | None = None


class Source(_Part):
    """A run that cells rest on. `report` leads from the document to its report, null where it is not known.

    `notes` are what a reader of its cells must know of it.
    """

    id: str
    name: str
    created: str | None = None
    imported: str | None = None
    report: str | None = None
    notes: tuple[str, ...] = ()


class Cell(_Part):
    """One model under one harness. `difference` is to the canonical harness, on common tasks, simultaneous over a row.

    `stale` says why the cell does not speak of the current harness; null where it does. `version` is the harness's as
    it was measured. `flagged` is whether the cell stands out from noise over the whole matrix (Benjamini and Hochberg,
    q = .10); it is no verdict. `evidence` leads to the trials. `tasks` have a verdict, `pairs` of them also under the
    canonical harness (`against`). `source_trials` has how many trials with a verdict each of `sources` had, in their
    order, by which an earlier state of a run is known; empty where nothing says.

    What is needed to judge by other margins: `if_lost` has the difference had all lost trials failed, and had all been
    solved (those of the canonical harness the opposite), empty where they cannot matter; `withheld` says that no margin
    changes the verdict.
    """

    subject: str
    harness: str
    version: str | None = None
    id: str | None = None
    wire: str | None = None
    against: Against | None = None
    verdict: Verdict
    reason: str | None = None
    rate: Figure = Figure()
    difference: Figure = Figure()
    if_lost: tuple[Figure, ...] = ()
    withheld: bool = False
    p: float | None = None
    flagged: bool = False
    tasks: int = 0
    pairs: int = 0
    trials: int = 0
    lost: int = 0
    extra_tasks: int | None = None
    main_label: MainLabel | None = None
    stale: str | None = None
    measured: str | None = None
    sources: tuple[str, ...] = ()
    source_trials: tuple[int, ...] = ()
    evidence: str | None = None
    notes: tuple[str, ...] = ()


class Matrix(_Part):
    """The whole of it; a subject and a harness without a cell were not tried together."""

    schema_: Literal["harness-eval/compatibility/1"] = Field(default=SCHEMA, alias="schema")
    made: str
    made_by: str
    margins: Margins
    subjects: tuple[Subject, ...]
    harnesses: tuple[Column, ...]
    cells: tuple[Cell, ...]
    sources: tuple[Source, ...]
    notes: tuple[str, ...] = ()
