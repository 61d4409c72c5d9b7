from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness_eval.axes import axes, levels
from harness_eval.errors import ConfigError
from harness_eval.reference.coupling import COUPLINGS
from harness_eval.reference.couplings import make_couplings

from .conversation import RESULTS, Conversation

Talk = Callable[..., Conversation]

CUT = "start\nhost=db7 port=8101\n[output truncated: 900 characters left out.]"
SUMMARY = {"level": "summary", "window": 500, "keep": 0}

# Levels that show a coupling where they stand alone; the results that make a level act are given with it.
SPOILT: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    *[("native-calls-only", {"protocol": name}, RESULTS) for name in COUPLINGS["native-calls-only"].hits["protocol"]],
    *[("trained-tool-names", {"toolset": name}, RESULTS) for name in COUPLINGS["trained-tool-names"].hits["toolset"]],
    *[
        ("trained-parameter-names", {"toolset": name}, RESULTS)
        for name in COUPLINGS["trained-parameter-names"].hits["toolset"]
    ],
    ("truncation-gives-up", {}, (CUT, *RESULTS[1:])),
    ("needs-thinking", {"thinking": "drop"}, RESULTS),
    ("needs-thinking", {"thinking": "empty"}, RESULTS),
    *[("needs-todo", {"planning": name}, RESULTS) for name in COUPLINGS["needs-todo"].hits["planning"]],
    ("wanders-with-many-tools", {"distractors": "many"}, RESULTS),
    ("wanders-with-many-tools", {"distractors": "many", "toolset": "shell-only"}, RESULTS),
    ("wanders-with-many-tools", {"distractors": "crowd"}, RESULTS),
    *[("never-submits", {"stopping": name}, RESULTS) for name in COUPLINGS["never-submits"].hits["stopping"]],
]
SPARED: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("native-calls-only", {"protocol": "native-single", "toolset": "opaque-aliases"}, RESULTS),
    ("trained-tool-names", {"toolset": "shell-only", "protocol": "dsml"}, RESULTS),
    ("trained-tool-names", {"protocol": "fenced-bash"}, RESULTS),
    ("trained-parameter-names", {"planning": "plan-field"}, RESULTS),
    ("trained-parameter-names", {"protocol": "worked-completion"}, RESULTS),
    ("truncation-gives-up", {"truncation": "silent"}, RESULTS),
    ("lost-after-compaction", {"context": {"level": "window", "steps": 1}}, RESULTS),
    ("needs-thinking", {"thinking": "as-text", "protocol": "xml-json"}, RESULTS),
    ("needs-thinking", {"protocol": "worked-completion"}, RESULTS),
    ("needs-todo", {"planning": "todo"}, RESULTS),
    ("wanders-with-many-tools", {"distractors": "few"}, RESULTS),
    # However many tools the other axes add, it is the distractors that it does not bear.
    (
        "wanders-with-many-tools",
        {"distractors": "few", "toolset": "pascal-case", "planning": "todo", "stopping": "submit-tool"},
        RESULTS,
    ),
    ("never-submits", {"stopping": "no-call", "protocol": "json-text"}, RESULTS),
]


def solves(conversation: Conversation, *results: str) -> bool:
    """Whether the last change of the plan is carried out when the conversation is played to its end."""
    conversation.play(*results)
    told = [str(dict(call.arguments)) for call in conversation.carried_out]
    return any("db7" in words and "host.txt" in words for words in told)


@pytest.mark.parametrize(("coupling", "levels_used", "results"), SPOILT)
def test_at_strength_1_the_levels_that_it_hits_are_spoilt(
    talk: Talk, coupling: str, levels_used: dict[str, Any], results: tuple[str, ...]
) -> None:
    assert not solves(talk(couplings={coupling: 1.0}, **levels_used), *results)


@pytest.mark.parametrize(("coupling", "levels_used", "results"), SPOILT)
def test_at_strength_0_nothing_is_spoilt(
    talk: Talk, coupling: str, levels_used: dict[str, Any], results: tuple[str, ...]
) -> None:
    assert solves(talk(couplings={coupling: 0.0}, **levels_used), *results)


@pytest.mark.parametrize(("coupling", "levels_used", "results"), SPARED)
def test_levels_that_it_does_not_hit_are_spared(
    talk: Talk, coupling: str, levels_used: dict[str, Any], results: tuple[str, ...]
) -> None:
    assert solves(talk(couplings={coupling: 1.0}, **levels_used), *results)


@pytest.mark.parametrize("inject", ["user", "acknowledged", "question", "handoff"])
@pytest.mark.parametrize("keep", [0, 1])
def test_a_summary_of_its_own_makes_it_stop_early(talk: Talk, inject: str, keep: int) -> None:
    context = {**SUMMARY, "inject": inject, "keep": keep}
    conversation = talk(couplings={"lost-after-compaction": 1.0}, context=context)
    conversation.turn(RESULTS[0])
    conversation.turn(RESULTS[1])
    assert conversation.ask().calls
    conversation.compact()
    assert conversation.ask().calls == ()


def test_a_drifting_agent_thinks_aloud_and_acts_no_more(talk: Talk) -> None:
    conversation = talk(couplings={"needs-thinking": 1.0}, thinking="drop", stopping="submit-tool")
    conversation.turn(RESULTS[0])
    for _ in range(3):
        assert conversation.turn("").calls == ()


def test_thinking_of_the_newest_turn_alone_hurts_less_than_none(talk: Talk) -> None:
    def solved(thinking: str, seed: int) -> bool:
        return solves(talk(couplings={"needs-thinking": 0.6}, thinking=thinking, seed=seed))

    solved_of = {name: sum(solved(name, seed) for seed in range(60)) for name in ("keep", "last", "drop")}
    assert solved_of["keep"] == 60
    assert solved_of["keep"] > solved_of["last"] > solved_of["drop"] > 0


def test_a_half_strong_coupling_varies_with_the_seed_and_is_the_same_for_one_seed(talk: Talk) -> None:
    def solved(seed: int) -> bool:
        return solves(talk(couplings={"never-submits": 0.5}, stopping="submit-tool", seed=seed))

    outcomes = [solved(seed) for seed in range(80)]
    assert 25 <= sum(outcomes) <= 55
    assert [solved(seed) for seed in range(10)] == outcomes[:10]


def test_couplings_are_drawn_independently_and_all_harnesses_share_a_draw() -> None:
    first, second = make_couplings({"needs-todo": 0.5, "never-submits": 0.5})
    draws = [(first.draw("t", seed) < 0.5, second.draw("t", seed) < 0.5) for seed in range(200)]
    assert all(30 <= draws.count(pair) <= 70 for pair in {(a, b) for a in (True, False) for b in (True, False)})


@pytest.mark.parametrize("name", COUPLINGS)
def test_what_a_coupling_hits_are_levels_that_exist(name: str) -> None:
    assert COUPLINGS[name].__doc__
    for axis, hit in COUPLINGS[name].hits.items():
        assert axis in axes()
        assert set(hit) <= set(levels(axis))


@pytest.mark.parametrize(
    ("strengths", "said"),
    [
        ({"need-todo": 1.0}, "did you mean 'needs-todo'?"),
        ({"needs-todo": 1.5}, "needs-todo: strength 1.5 is outside of 0..1"),
        ({"needs-todo": -0.1}, "outside of 0..1"),
    ],
)
def test_a_wrong_name_or_strength_is_refused(strengths: dict[str, float], said: str) -> None:
    with pytest.raises(ConfigError, match=said.replace("?", r"\?")):
        make_couplings(strengths)
