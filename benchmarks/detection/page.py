"""DETECTION.md, as text."""

from __future__ import annotations

from benchmarks.detection import table
from benchmarks.detection.bank import Bank
from benchmarks.detection.checking import Checked
from benchmarks.detection.studies import FEW, MORE, SEEDS, STRENGTHS
from benchmarks.detection.table import HARNESSES, Judged

_BEGIN = """# Does a report find what was planted?

Written by `make bench-detection`. The scripted agent solves every task under every harness, unless a weakness, a
*coupling*, is planted in it that makes some level of one axis fatal. So the truth is known, and a report can be held
against it.

One run is {harnesses} harnesses, the orthogonal array L32 over nine axes of four levels
(`benchmarks/detection/family.yaml`: the axes of the family `standard`, with caps and windows that act on short
tasks), times tasks of the suite core, once each. Each seed deals axes and levels to the array anew, so draws harnesses
of its own, chooses the tasks, and draws the trials in which a coupling of a strength below 1 is there.

- **Found, axis**: the axis with the largest share of the variance, and the first level that stands out (adjusted p
  below .05), are of the planted axis; where no level stands out by itself, but all levels of that axis together do, it
  is the level that matters most there. **Axis and level**: besides, that level is one that the coupling hits, and it
  costs; or, where the canonical level itself is hit, one that is spared, and it gains. This is what the first sentences
  of a report name.
- **False accusation**: an axis stands out, by all its levels together or by one of them, that is neither planted nor
  tied to the planted one by a rule of impossible combinations (in this family none is).
- Intervals are Wilson's, 95 %.
"""

_WEAK = """A coupling of strength .25 is there in a quarter of the tasks, under every harness. Right axis and level:
"""

_HOW = """## How

Every trial is the real one: harness, agent loop, tools, box and verifier; the scripted agent is asked in the same
process, with the bytes that its server would get. It keeps nothing between requests and draws once a trial whether a
coupling is there. So each trial is run once and remembered, and the outcome of a run is looked up: with the coupling
where a run's draw is below its strength, else without. Where the coupling would change no turn of the trial without
it, which is asked at every turn of that trial, both are one. `needs-thinking` compares its draw with the share of
turns that lack their reasoning, so its trials are remembered with the range of draws for which they hold. Boxes are
remembered too: one that is told the same things in the same order gives the same answers.

"""


def _full(judged: Judged, tasks: int) -> list[str]:
    return [
        f"## Full strength, {tasks} tasks ({tasks * HARNESSES} trials a run)\n",
        table.full_strength(judged, tasks) + "\n",
    ]


def page(judged: Judged, bank: Bank, checked: Checked | None) -> str:
    """The whole page."""
    parts = [
        _BEGIN.format(harnesses=HARNESSES),
        *(part for tasks in (FEW, MORE[0]) for part in _full(judged, tasks)),
        "## Nothing planted\n",
        table.uncoupled(judged, (FEW, *MORE)),
        "\n## Weaker couplings, and more trials\n",
        _WEAK,
        table.growth(judged, (FEW, *MORE), STRENGTHS),
        "\n## Innocent axes accused while something was planted\n",
        table.accused(judged),
        "",
        _HOW + _counts(judged, bank) + (_checked(checked) if checked else ""),
    ]
    return "\n".join(parts)


def _counts(judged: Judged, bank: Bank) -> str:
    trials = sum(case.tasks * HARNESSES for case in judged)
    seeds = len({case.seed for case in judged})
    return (
        f"The {len(judged):,} runs of these tables, with {seeds} of {len(SEEDS)} seeds, have {trials:,} trials: "
        f"{sum(map(len, bank.known.values())):,} distinct ones.\n"
    )


def _checked(checked: Checked) -> str:
    differing = "".join(f"\n- {each}" for each in checked.differing)
    return (
        f"\nAgainst the real: {checked.runs} runs by `harness-eval run`, over HTTP and in boxes of their own, with "
        f"{checked.trials:,} trials: {checked.same:,} have the score, and the axes that acted, of the bank"
        f"{':' if differing else '.'}{differing}\n\n"
        f"Of {checked.reports} whole reports, {checked.equal} say of the axes what these tables were made from.\n"
    )
