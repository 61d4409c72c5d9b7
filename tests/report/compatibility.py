"""Compatibility matrices for tests, built from the document's own models."""

from __future__ import annotations

import random
from typing import Any

from harness_eval.compat.document import Cell, Column, Figure, MainLabel, Margins, Matrix, Source, Subject

Data = dict[str, Any]

HOSTILE = (
    "<script>alert(1)</script>|pipe\nnewline",
    '=HYPERLINK("http://x","y")',
    "**b** [x](javascript:alert(1)) `c` @someone #1 \x1b[31mred",
    "<!-- harness-eval compat: end -->",
    '" onload="x',
    "@SUM(A1)",
    "+1",
    "-2",
    "::error::x",
)
_MODELS = ("Kimi-K3", "GLM-5", "DeepSeek-V4", "Qwen4-Coder", "MiniMax-M3", "Llama-5-70B", "Mistral-Large-4")
_HARNESSES = ("json-text", "xml-function", "bash-block", "typescript-code", "opencode-like", "swe-agent-like", "dsml")
_LABELS = (("model.wrong_answer", "model"), ("harness.limit_steps", "harness"), ("wire.leaked_call", "wire"))


def plain(matrix: Matrix) -> Data:
    """A matrix as the forms take it."""
    return matrix.model_dump(mode="json", by_alias=True)


def cell(subject: str, harness: str, **told: Any) -> Cell:
    """A compatible cell, with whatever is said otherwise."""
    known: Data = {
        "version": "1",
        "verdict": "compatible",
        "rate": Figure(estimate=0.8, low=0.74, high=0.85),
        "difference": Figure(estimate=-0.012, low=-0.06, high=0.036),
        "p": 0.61,
        "tasks": 100,
        "trials": 300,
        "measured": "2026-11-20T08:00:00+00:00",
        "sources": ("a",),
        "evidence": f"runs/a/report.html#{harness}",
    }
    return Cell(subject=subject, harness=harness, **(known | told))


def broken(subject: str, harness: str, drop: float = 0.32, **told: Any) -> Cell:
    """A cell that is surely broken."""
    difference = Figure(estimate=-drop, low=-drop - 0.08, high=-drop + 0.08)
    label = MainLabel(label="wire.leaked_call", owner="wire", trials=61)
    known: Data = {"verdict": "broken", "difference": difference, "p": 0.0002, "flagged": True, "main_label": label}
    return cell(subject, harness, **(known | told))


def canonical(subject: str, harness: str = "canonical") -> Cell:
    """What the others are compared with: no difference, no p."""
    return cell(subject, harness, difference=Figure(), p=None)


def of(subjects: tuple[Subject, ...], columns: tuple[Column, ...], cells: tuple[Cell, ...], **told: Any) -> Data:
    """A document around cells."""
    sources = (
        Source(id="a", name="nightly", created="2026-11-20T07:00:00+00:00", report="runs/a/report.html"),
        Source(id="b", name="from the vendor", imported="inspect"),
    )
    known: Data = {"made": "2026-11-30T00:00:00+00:00", "made_by": "harness-eval 0.1.0", "margins": Margins()}
    parts = {"subjects": subjects, "harnesses": columns, "cells": cells, "sources": sources}
    return plain(Matrix(**(known | parts | told)))


def tiny() -> Data:
    """Two models, three harnesses, every verdict, a stale cell and one that was not tried."""
    subjects = (
        Subject(id="k", model="Kimi-K3", version="2026-10", serving="vLLM 0.11"),
        Subject(id="s", model="reference", scripted=True),
    )
    columns = (
        Column(name="json-text", version="2"),
        Column(name="canonical", version="1", canonical=True),
        Column(name="bash-block", version="1"),
        Column(name="dsml", version="1"),
    )
    unclear = Figure(estimate=-0.05, low=-0.16, high=0.06)
    worse = Figure(estimate=-0.09, low=-0.17, high=-0.01)
    cells = (
        canonical("k"),
        broken("k", "json-text", stale="measured with version 1, the current one is 2"),
        cell("k", "bash-block"),
        cell("k", "dsml", verdict="unclear", reason="the interval is too wide", difference=unclear, extra_tasks=40),
        canonical("s"),
        cell("s", "json-text", verdict="degraded", version="2", difference=worse),
        cell("s", "bash-block", verdict="unsupported", reason="no text protocol", rate=Figure(), difference=Figure(),
             p=None, tasks=0, trials=0, evidence=None),
    )  # fmt: skip
    return of(subjects, columns, cells)


def large(models: int, harnesses: int, seed: int = 0) -> Data:
    """A matrix of any size with everything in it, the same for the same seed."""
    draws = random.Random(seed)
    servings = ("vLLM 0.11", "SGLang 0.6", None)
    subjects = tuple(
        Subject(
            id=f"m{at}",
            model=_MODELS[at % len(_MODELS)] + (f"-v{at // len(_MODELS)}" if at >= len(_MODELS) else ""),
            version="2026-10" if at % 2 else None,
            serving=servings[at % 3],
        )
        for at in range(models)
    )
    names = ["canonical", *(f"{_HARNESSES[at % len(_HARNESSES)]}-{at}" for at in range(1, harnesses))]
    columns = tuple(Column(name=one, version=str(1 + at % 3), canonical=not at) for at, one in enumerate(names))
    cells = [_drawn(one.id, column, draws) for one in subjects for column in columns if draws.random() > 0.03]
    return of(subjects, columns, tuple(cells))


def _drawn(subject: str, column: Column, draws: random.Random) -> Cell:
    if column.canonical:
        return canonical(subject)
    drop, half = draws.choice((0.0, 0.0, 0.01, 0.04, 0.12, 0.35)), draws.choice((0.04, 0.05, 0.08))
    difference = Figure(estimate=-drop, low=-drop - half, high=-drop + half)
    verdict = (
        "compatible" if -drop - half > -0.1 else
        "broken" if -drop + half < -0.1 else
        "degraded" if -drop + half < 0 else "unclear"
    )  # fmt: skip
    told: Data = {"verdict": verdict, "difference": difference, "flagged": drop > 0.1, "lost": draws.choice((0, 0, 3))}
    if verdict == "unclear":
        told |= {"reason": "the interval is too wide", "extra_tasks": draws.randrange(5, 400)}
    if drop:
        label, owner = draws.choice(_LABELS)
        told["main_label"] = MainLabel(label=label, owner=owner, trials=draws.randrange(5, 90))
    if draws.random() < 0.06:
        told |= {"stale": "measured with another version than the current one", "version": "0"}
    if draws.random() < 0.04:
        told = {"verdict": "unsupported", "reason": "the server refuses tools in a text protocol", "rate": Figure(),
                "difference": Figure(), "p": None, "tasks": 0, "trials": 0, "evidence": None}  # fmt: skip
    return cell(subject, column.name, **told)


def hostile() -> Data:
    """Every name from outside is an attack."""
    subjects = tuple(Subject(id=f"m{at}", model=text, serving=text) for at, text in enumerate(HOSTILE))
    columns = tuple(Column(name=text, version=text) for text in HOSTILE)
    cells = tuple(
        broken(one.id, column.name, version=column.version, reason=column.name, stale=column.name,
               main_label=MainLabel(label=column.name, owner=column.name, trials=3),
               evidence="javascript:alert(1)")
        for one in subjects for column in columns
    )  # fmt: skip
    return of(subjects, columns, cells, notes=HOSTILE)
