"""One thing that a probe wants to know, and its answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from harness_eval.errors import HarnessEvalError
from harness_eval.types import Reply, Request

Status: TypeAlias = Literal["yes", "no", "unknown"]
Answer: TypeAlias = Reply | HarnessEvalError
LabelOf: TypeAlias = Callable[[Reply, Request], str]
"""The label of a reply in view of its request; "" where there is none to give."""


@dataclass(frozen=True, slots=True)
class Check:
    """`yes` is what a run would want or bears, `no` is neither, and `unknown` what could not be established.

    `label` may be ""; one that begins with `ok.` is for what is borne.
    """

    check: str
    status: Status
    detail: str
    label: str = ""


def unknown(check: str, why: HarnessEvalError) -> Check:
    """The check that an error kept from being made."""
    return Check(check, "unknown", str(why), why.label)


def most_common(labels: Iterable[str]) -> str:
    """The label that stands there most often, the first of equals; "" where there is none."""
    counted = Counter(label for label in labels if label)
    return counted.most_common(1)[0][0] if counted else ""


def number_of(number: int, noun: str, nouns: str = "") -> str:
    """A count with its noun, such as `1 call` or `2 calls`."""
    return f"{number} {noun if number == 1 else nouns or f'{noun}s'}"
