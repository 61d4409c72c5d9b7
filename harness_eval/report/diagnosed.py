"""What was met in the trials of one endpoint, and whose it is: labels by harness, and who is to blame."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from harness_eval.diagnosis.dialogue import DECISIVE
from harness_eval.diagnosis.labels import LABELS, Label
from harness_eval.diagnosis.remedies import remedy
from harness_eval.diagnosis.reply import PLAIN
from harness_eval.report.counts import UNLABELLED
from harness_eval.report.outcomes import Outcome
from harness_eval.types import Json

_ORDER = ("config_abort", "model_failure", "excluded", "reported_separately", "model_feedback", "tolerated")
_OF_THE_MODEL = ("model_failure", "model_feedback")
_BY_STOP = {
    "finished": "model.wrong_answer",
    "steps": "limit.steps",
    "tokens": "limit.total_tokens",
    "context-overflow": "limit.context_overflow",
    "loop": "model.loop_identical_calls",
}
_BY_BOUNDARY = {"task": "evaluator"}


def known(name: str) -> Label:
    """A label of the vocabulary; one that another version wrote is nobody's, and its effect is not known."""
    return LABELS.get(name) or Label(name, "undetermined", "reported_separately", "not in this version's vocabulary")


def labels(outcomes: Iterable[Outcome]) -> list[dict[str, Json]]:
    """Every label that was met, what matters first; plain ones are left out.

    `trials` and `turns` count where it was met; `turns` is None where no trial has counted them, and 0 for what is
    only found in a trial as a whole.
    """
    trials: dict[str, Counter[str]] = defaultdict(Counter)
    turns: dict[str, Counter[str]] = defaultdict(Counter)
    counted: set[str] = set()
    for outcome in outcomes:
        for name in {*outcome.labels, *(outcome.turns or ()), outcome.label}.difference(PLAIN, [""]):
            trials[name][outcome.harness] += 1
            if outcome.turns is not None:
                counted.add(name)
                turns[name][outcome.harness] += outcome.turns.get(name, 0)
    rows = [_row(name, trials[name], turns[name] if name in counted else None) for name in trials]
    return sorted(rows, key=lambda row: (_ORDER.index(row["effect"]), -row["trials"], row["label"]))


def _row(name: str, trials: Counter[str], turns: Counter[str] | None) -> dict[str, Json]:
    label = known(name)
    return {
        "label": name,
        "owner": label.owner,
        "effect": label.effect,
        "meaning": label.meaning,
        "remedy": remedy(name),
        "trials": trials.total(),
        "turns": None if turns is None else turns.total(),
        "harnesses": {
            harness: {"trials": number, "turns": None if turns is None else turns[harness]}
            for harness, number in trials.most_common()
        },
    }


def cause(outcome: Outcome) -> tuple[str, str]:
    """Whose it is that a trial was not solved, and the label that says why (or the stop reason, where none does).

    A lost trial has its failure's label. Of a judged one the first label decides that can cost a score; then how it
    stopped; then the first error that the model was told of. What was tolerated never explains a failure.
    """
    if not outcome.judged:
        name = outcome.label or UNLABELLED
        return _owner(name) if outcome.label else _BY_BOUNDARY.get(outcome.owner, outcome.owner), name
    met = [LABELS[name] for name in outcome.labels if name in LABELS]
    decisive = [label.name for label in met if label.effect in DECISIVE]
    decisive += [_BY_STOP[outcome.stop]] if outcome.stop in _BY_STOP else []
    decisive += [label.name for label in met if label.effect == "model_feedback"]
    if not decisive and outcome.stop == "unknown" and not outcome.labels:  # as of an imported table
        return "unknown", "nothing was recorded"
    return (_owner(decisive[0]), decisive[0]) if decisive else ("model", f"stopped: {outcome.stop}")


def _owner(name: str) -> str:
    """The label's owner; what the model was told of, or failed by, is its own."""
    label = known(name)
    return "model" if label.effect in _OF_THE_MODEL else label.owner


def blame(outcomes: Iterable[Outcome]) -> list[dict[str, Json]]:
    """Trials that were not solved, lost ones included, by owner and by label; the owner of most comes first."""
    owners: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        if outcome.score is None or outcome.score < 1.0:
            owner, name = cause(outcome)
            owners[owner][name] += 1
    rows = [
        {"owner": owner, "trials": names.total(), "labels": dict(names.most_common())}
        for owner, names in owners.items()
    ]
    return sorted(rows, key=lambda row: (-row["trials"], row["owner"]))
