"""The modules whose words a report says, by the names under which its templates know them."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from harness_eval.report import (
    designed,
    diagnosis_words,
    effect_words,
    external_words,
    findings,
    follows,
    overview,
    spending,
    traced_words,
    undone,
    wording,
)

SPOKEN: Mapping[str, ModuleType] = {
    "effect_words": effect_words,
    "external": external_words,
    "findings": findings,
    "follows": follows,
    "diagnosis": diagnosis_words,
    "designed": designed,
    "overview": overview,
    "traced": traced_words,
    "spending": spending,
    "undone": undone,
    "wording": wording,
}
