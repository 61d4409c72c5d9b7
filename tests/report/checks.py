"""Checks built by hand, for tests of their forms."""

from __future__ import annotations

from typing import Any

from harness_eval.gate.document import (
    Check,
    Decision,
    Difference,
    Figure,
    Flipped,
    Grown,
    Look,
    Outcome,
    Quarantined,
    Question,
    Side,
    Trials,
)


def figure(estimate: float, low: float, high: float) -> Figure:
    return Figure(estimate=estimate, low=low, high=high)


def side(name: str, **keys: Any) -> Side:
    known = {"created": "2026-11-20T08:00:00Z", "endpoint": "lab", "model": "small-8b", "scripted": False}
    known |= {"versions": {"harness-eval": "0.1.0"}, "tasks": 100, "repeats": 3}
    return Side(name=name, **known | keys)


def canonical(verdict: str, said: str, change: Figure) -> Question:
    after = figure(0.81 + (change.estimate or 0), 0.6, 0.9)
    return Question(
        asked="canonical",
        verdict=verdict,
        said=said,
        before=figure(0.81, 0.74, 0.87),
        after=after,
        change=change,
        detectable=0.083,
    )


def spread(verdict: str = "pass") -> Question:
    return Question(
        asked="spread",
        verdict=verdict,
        said="The spread did not surely widen.",
        before=figure(0.06, 0.03, 0.09),
        after=figure(0.05, 0.02, 0.08),
        change=figure(-0.01, -0.04, 0.02),
    )


def decision(**keys: Any) -> Decision:
    looks = (Look(repeats=0.25, pairs=25, worse=4, better=1, statistic=0.835),)
    looks += (Look(repeats=0.5, pairs=50, worse=13, better=2, statistic=3.353),)
    known = {"gate": "sprt", "by": "discordant pairs", "alpha": 0.05, "beta": 0.1, "margin": 0.1, "worse": 13}
    known |= {
        "better": 2,
        "pairs": 50,
        "repeats": 0.5,
        "cap": 3,
        "statistic": 3.353,
        "fail_at": 2.89,
        "pass_at": -2.251,
    }
    return Decision(**{**known, "looks": looks, **keys})


def outcomes(number: int = 100, fallen: int = 12) -> tuple[Outcome, ...]:
    rows = []
    for place in range(number):
        known = {"before_solved": 3, "before_trials": 3, "after_solved": int(place >= fallen), "after_trials": 1}
        if place >= number // 2:
            known |= {"after_solved": 0, "after_trials": 0}
        rows.append(Outcome(task=f"task-{place:03}", **known))
    return tuple(rows)


def flips(rows: tuple[Outcome, ...]) -> tuple[Flipped, ...]:
    fell = [row for row in rows if row.after_trials and not row.after_solved]
    kept = {"before_solved", "before_trials", "after_solved", "after_trials", "task"}
    return tuple(Flipped(**row.model_dump(include=kept), chance=0.93 - 0.01 * place) for place, row in enumerate(fell))


def check(**keys: Any) -> dict[str, Any]:
    """The content of check.json; a failing check unless `keys` say otherwise."""
    rows = outcomes()
    known: dict[str, Any] = {
        "verdict": "fail",
        "exit_code": 1,
        "said": "canonical solves 22.0 points less than before.",
        "harness": "canonical",
        "before": side("main", versions={"harness-eval": "0.1.0"}),
        "after": side("change", versions={"harness-eval": "0.1.1"}),
        "questions": (canonical("fail", "It solves less than before.", figure(-0.22, -0.33, -0.11)), spread()),
        "decision": decision(),
        "flipped": flips(rows),
        "tasks": rows,
        "grown": (
            Grown(
                label="model.planning_churn",
                owner="model",
                before=1,
                before_trials=300,
                after=9,
                after_trials=50,
                p=2e-6,
            ),
            Grown(
                label="serving.tool_call_dropped",
                owner="serving",
                before=0,
                before_trials=300,
                after=2,
                after_trials=50,
                p=0.02,
            ),
        ),
        "quarantined": (Quarantined(task="task-099", lost=2, trials=6),),
        "changed": (Difference(kind="harness", what="canonical", detail="version 1, then version 2"),),
        "trials": Trials(most=300, judged=50, lost=3, missing=0),
        "lost": {"endpoint": 2, "sandbox": 1},
        "notes": ("The baseline is 20 days old.",),
        "checked_by": "harness-eval 0.1.1",
    }
    return Check(**known | keys).model_dump(mode="json", by_alias=True)


def passing(**keys: Any) -> dict[str, Any]:
    question = canonical("pass", "It solves as much as before.", figure(0.003, -0.04, 0.05))
    known = {"verdict": "pass", "exit_code": 0, "said": "canonical solves as much as before.", "questions": (question,)}
    return check(**known | {"grown": (), "changed": (), "quarantined": (), "notes": ()} | keys)


def undecided(**keys: Any) -> dict[str, Any]:
    question = canonical("inconclusive", "No rule decided within 3 repeats.", figure(-0.04, -0.09, 0.01))
    known = {
        "verdict": "inconclusive",
        "exit_code": 0,
        "said": "nothing was decided.",
        "questions": (question, spread()),
    }
    none = decision(by="none", statistic=1.2, repeats=3, needed="about 2 more repeats of 100 tasks.")
    return check(**known | {"decision": none} | keys)


def incomplete(**keys: Any) -> dict[str, Any]:
    question = canonical("incomplete", "40 trials are missing.", figure(-0.04, -0.2, 0.1))
    known = {"verdict": "incomplete", "exit_code": 3, "said": "40 trials are missing.", "questions": (question,)}
    short = Trials(most=300, judged=260, lost=0, missing=40)
    return check(**known | {"trials": short, "decision": decision(by="none", needed="run it again")} | keys)


def replayed(**keys: Any) -> dict[str, Any]:
    question = Question(
        asked="record",
        verdict="pass",
        said="All 40 recorded trials are derived again as they were.",
        before=Figure(),
        after=Figure(),
        change=Figure(),
    )
    known = {"verdict": "pass", "exit_code": 0, "said": question.said, "questions": (question,), "decision": None}
    nothing: dict[str, Any] = {"flipped": (), "tasks": (), "grown": (), "quarantined": (), "changed": (), "lost": {}}
    return check(**known | nothing | {"trials": Trials(most=40, judged=40, lost=0, missing=0)} | keys)


EVERY_CONTROL = "".join(map(chr, (*range(32), 127, *range(128, 160), 0x2028, 0x202E, 0xFEFF, 0xFFFE, 0xFFFF, 0xD800)))
HOSTILE = (
    "::error title=planted::all is well",
    "\n::set-output name=verdict::pass\n",
    "##[set-output name=verdict]pass",
    "x\n##vso[task.setvariable variable=verdict]pass",
    "##teamcity[buildProblem description='planted']",
    "a % b %0A::stop-commands::token",
    "a: b, file=planted.py, line=1",
    "<script>alert(1)</script> | `x` [y](javascript:1) **z** @someone #1",
    "]]><testcase/>&amp;&unknown;",
    EVERY_CONTROL,
    "Authorization: Bearer abcdefghijklmnop1234",
    "x" * 100_000,
    "",
    "   ",
)


def hostile(text: str) -> dict[str, Any]:
    """A failing check all of whose texts from outside are this one."""
    rows = [row.model_copy(update={"task": text}) for row in outcomes(20)]
    question = canonical("fail", text, figure(-0.22, -0.33, -0.11))
    return check(
        said=text,
        harness=text,
        before=side(text, endpoint=text, model=text, versions={text: text, "one": "2"}, created=text),
        after=side(text, endpoint=text, model=text, versions={text: "1"}, created=text),
        questions=(question, spread().model_copy(update={"verdict": "inconclusive", "said": text})),
        decision=decision(needed=text),
        flipped=flips(tuple(rows)),
        tasks=tuple(rows),
        grown=tuple(
            Grown(label=text, owner=text, before=1, before_trials=9, after=3, after_trials=9, p=0.2) for _ in range(30)
        ),
        quarantined=tuple(Quarantined(task=text, lost=2, trials=6) for _ in range(30)),
        changed=tuple(Difference(kind="suite", what=text, detail=text) for _ in range(30)),
        lost={text: 3},
        notes=(text,) * 30,
        checked_by=text,
    )
