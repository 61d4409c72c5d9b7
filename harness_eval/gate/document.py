"""What a check found, as check.json holds it; every other form of it is made from this one."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Verdict: TypeAlias = Literal["pass", "fail", "inconclusive", "incomplete"]
Kind: TypeAlias = Literal["suite", "harness", "endpoint", "limits"]
SCHEMA: Literal["harness-eval/check/1"] = "harness-eval/check/1"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Figure(_Part):
    """An estimate with its limits; proportions, or differences of such; null where it is unknown."""

    estimate: float | None = None
    low: float | None = None
    high: float | None = None


class Side(_Part):
    """One of the two runs. `repeats` are those of the gated harness."""

    name: str
    created: str | None
    endpoint: str
    model: str
    scripted: bool
    versions: dict[str, str]
    tasks: int
    repeats: int


class Question(_Part):
    """One thing that may have become worse, and what was found; changes are the new run less the baseline.

    `asked` is "canonical" for the gated harness, whatever its name. `said` is the finding in one plain sentence.
    `detectable` is the smallest change that would have been seen in 8 of 10 such checks.
    """

    asked: Literal["canonical", "worst", "spread", "record"]
    verdict: Verdict
    said: str
    before: Figure
    after: Figure
    change: Figure
    detectable: float | None = None


class Look(_Part):
    """One look of a sequential test: what it had seen by then."""

    repeats: float
    pairs: int
    worse: int
    better: int
    statistic: float


class Decision(_Part):
    """How the gated harness was decided.

    `by` is the rule that decided ("none": no rule did), `worse` and `better` count pairs of the same task and repeat
    that were solved in one run only. `needed` says what would have decided an inconclusive check; empty otherwise.
    """

    gate: Literal["sprt", "fixed", "e-process", "release"]
    by: Literal["discordant pairs", "limits", "none"]
    alpha: float
    beta: float | None
    margin: float
    worse: int
    better: int
    pairs: int
    repeats: float
    cap: int
    statistic: float | None
    fail_at: float | None
    pass_at: float | None
    looks: tuple[Look, ...] = ()
    needed: str = ""


class Flipped(_Part):
    """A task that is solved less often than before; `chance` is the posterior one that its rate fell by over 0.2.

    Of `improved` the same the other way round.
    """

    task: str
    before_solved: int
    before_trials: int
    after_solved: int
    after_trials: int
    chance: float


class Outcome(_Part):
    """One task under the gated harness: its judged trials on both sides, and what is not judged of the new ones."""

    task: str
    before_solved: int
    before_trials: int
    after_solved: int
    after_trials: int
    lost: int = 0
    missing: int = 0


class Grown(_Part):
    """A label that trials of the gated harness have more often than before; `p` of Fisher's exact test, one-sided.

    Over the tasks that both runs have judged; Holm over labels.
    """

    label: str
    owner: str
    before: int
    before_trials: int
    after: int
    after_trials: int
    p: float


class Quarantined(_Part):
    """A task whose trials are lost too often to tell a regression by: it takes no part in the decision."""

    task: str
    lost: int
    trials: int


class Difference(_Part):
    """Something that is not the same in both runs, and may be the reason of whatever was found."""

    kind: Kind
    what: str
    detail: str


class Trials(_Part):
    """Trials of the gated harness in the new run: what the gate may use at most, and what became of it."""

    most: int
    judged: int
    lost: int
    missing: int


class Check(_Part):
    """The whole of it. `verdict` is the sum of `questions`, and `exit_code` follows from it and from the gate.

    `said` is the outcome in one sentence that begins after the verdict, which every form names before it: "solves 12.0
    points less than before". `tasks` holds every task that both runs have, also those in `flipped` and `quarantined`.
    """

    schema_: Literal["harness-eval/check/1"] = Field(default=SCHEMA, alias="schema")
    verdict: Verdict
    exit_code: int
    said: str
    harness: str
    before: Side
    after: Side
    questions: tuple[Question, ...]
    decision: Decision | None
    flipped: tuple[Flipped, ...] = ()
    improved: tuple[Flipped, ...] = ()
    tasks: tuple[Outcome, ...] = ()
    grown: tuple[Grown, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    changed: tuple[Difference, ...] = ()
    trials: Trials
    lost: dict[str, int] = {}
    notes: tuple[str, ...] = ()
    checked_by: str
