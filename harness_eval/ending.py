"""How an invocation of `run` leaves a run's folder: what is judged, lost and impossible there, and the exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness_eval import probing, store
from harness_eval.planning import Study
from harness_eval.probing import Unsupported
from harness_eval.runner import Outcome
from harness_eval.signals import INTERRUPTED
from harness_eval.types import TrialKey

INCOMPLETE = 3


@dataclass(frozen=True, slots=True)
class Ended:
    """How an invocation of `run` left a run's folder.

    `unsupported` has, by endpoint, the harnesses that cannot run there. Their trials are neither planned nor lost,
    save those that were judged before it showed. `lost` counts the other lost trials by owner.
    """

    folder: Path
    planned: int
    judged: int
    solved: int
    lost: dict[str, int]
    outcome: Outcome
    lost_limit: float
    unsupported: Mapping[str, Sequence[Unsupported]] = field(default_factory=dict)

    @property
    def problems(self) -> list[str]:
        """Why the run is incomplete, a line each; empty when it is not, or was interrupted."""
        if self.outcome.interrupted:
            return []
        lost = sum(self.lost.values())
        lines = [f"endpoint {name} cannot be used: {message}" for name, message in self.outcome.down.items()]
        if self.outcome.boxless:
            lines.append(f"no sandbox can be had: {self.outcome.boxless}")
        if self.outcome.exhausted:
            lines.append(self.outcome.exhausted)
        if lines:
            return lines  # these explain the rest
        if self.planned == 0:
            lines.append("no harness of this study can run here; another profile, endpoint or other harnesses may")
        elif self.judged == 0:
            lines.append("no trial was judged")
        if lost > self.lost_limit * (lost + self.judged):
            share = lost / (lost + self.judged)
            owners = ", ".join(f"{owner} {number}" for owner, number in sorted(self.lost.items()))
            lines.append(f"{lost} trials ({share:.0%}) were lost, more than {self.lost_limit:.0%} ({owners})")
        return lines

    @property
    def exit_code(self) -> int:
        """130 after an interruption, 3 for an incomplete run, else 0."""
        return INTERRUPTED if self.outcome.interrupted else INCOMPLETE if self.problems else 0


def cell(key: TrialKey) -> tuple[str, str]:
    """Harness and endpoint of a trial: what can or cannot be run."""
    return key.harness, key.endpoint


def planned_of(meant: Sequence[TrialKey], refused: Collection[tuple[str, str]], judged: Collection[TrialKey]) -> int:
    """How many of these trials a run means to have judged in the end: all but those that cannot be run."""
    return sum(cell(key) not in refused or key in judged for key in meant)


def unsupported(folder: Path, counted: store.Tally | None = None) -> dict[tuple[str, str], Unsupported]:
    """What cannot run, by harness and endpoint: as the probe says, or a trial that was lost to it.

    `counted` is what the folder holds, where that is known.

    Raises:
        ConfigError: the record of the probe is damaged.
    """
    probes = probing.read(folder)
    found = {(each.harness, name): each for name, probe in probes.items() for each in probe.unsupported}
    for key, failure in (counted or store.tally(folder)).lost.items():
        if probing.impossible(failure.label):
            found.setdefault(cell(key), Unsupported(key.harness, failure.message, failure.label))
    return found


def ended(study: Study, folder: Path, outcome: Outcome) -> Ended:
    """Count what the folder holds of this study; of a harness that cannot run on an endpoint nothing counts there."""
    counted = store.tally(folder)
    refused = unsupported(folder, counted)
    judged = sum(cell(key) not in refused for key in counted.judged)
    solved = sum(number for where, number in counted.solved_at.items() if where not in refused)
    lost: Counter[str] = Counter(failure.owner for key, failure in counted.lost.items() if cell(key) not in refused)
    planned = planned_of(study.keys, refused, ())
    impossible = {
        name: tuple(each for (_, endpoint), each in refused.items() if endpoint == name) for name in study.endpoints
    }
    limit = study.config.lost_limit
    return Ended(folder, planned, judged, solved, dict(lost), outcome, limit, impossible)
