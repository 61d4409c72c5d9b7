"""How the figures of a report were made, in words."""

from __future__ import annotations

from collections.abc import Mapping

_TEXT = """
Sampling unit: A task is the cluster: every standard error is taken over tasks, after averaging repeats.
Scores and WORST: Hierarchical model with a Dirichlet-process prior on the logit scale, blocked Gibbs sampling. WORST is
  the posterior mean of the minimum over the tested harnesses; it depends on their number, so runs of different size are
  compared by WORST@8.
GAP: Canonical minus WORST within the same model; task luck cancels, so that its interval is narrower than theirs.
Worst set: One-sided paired max-T comparisons; it holds the true worst harness with a probability of at least 95 %. A
  single harness is named only when the set has one member.
FLOOR: The least one-sided 95 % lower limit of any tested harness, free of any model.
SPREAD: Standard deviation between harnesses net of sampling noise, with a jackknife over tasks.
Verdicts: Simultaneous 95 % intervals of the difference to the canonical harness against a margin of 10 pp: compatible,
  degraded, broken, or unclear where the interval does not decide. "Detectable" is the difference found with 80 % power
  by these intervals. Two pseudo-tasks without a difference are added, so
  that a difference is a little smaller than that of the plain means; the scores come from another model, and theirs
  is smaller still.
Effects of levels: Least squares within each task, the canonical level as reference; p-values with Holm's correction
  over all levels. "Detectable" is the smallest effect found with 80 % power before that correction. Intervals are cut
  at ±100 pp, the largest effect possible: one that reaches so far comes of too few harnesses. "Exposed" is the
  share of judged trials with the level in which its axis acted.
Shares: First-order share of the variance between harnesses, corrected for noise; what main effects leave over is
  interactions and other. The joint p tests all levels of an axis at once, with Holm's correction over axes; it asks
  more of the same harnesses, and can be large beside a small p of one level.
Worst drop: Shapley values of the changes between canonical and worst: the mean of what a change does alone to canonical
  and of what reverting it alone gives back, within tasks, on fresh repeats of all these harnesses. Exact unless three
  changes or more interact, which is tested. Intervals hold one by one; p-values with Holm's correction over changes.
Few tasks: Below 20 tasks WORST and what rests on its model are unknown, scores are plain means, and nothing has an
  interval; below 50 verdicts stay unclear.
Lost trials: Failures of endpoint, sandbox, task or harness are missing data with an owner, never a zero.
Cannot run here: A harness that the probe or a trial found impossible at an endpoint is unsupported; its trials are in
  no figure and not lost. An axis that changes nothing there is not compared.
Labels: What was met in a turn or a trial. Each has an owner, who must act, and an effect. A trial that was not solved
  is counted under the first label that can cost a score, else under how it stopped, else under the first error that
  the model was told of; what was tolerated explains no failure.
Strict and recovered: The headline takes a call that leaked as text for text. Where trials went on from such a call, the
  recovered reading stands beside it.
The wire's: An unsolved trial whose cause is a label of the server, of a gateway, or of an undetermined one of both and
  the model, is scored as it stands. Beside the headline stands the plain mean of the harnesses without such trials.
Intervals: 95 %, two-sided unless said otherwise, for tasks as a sample of a population of tasks.
"""

METHOD: Mapping[str, str] = {
    what: " ".join(how.split())
    for what, how in (entry.split(": ", 1) for entry in _TEXT.strip().replace("\n  ", " ").splitlines())
}
