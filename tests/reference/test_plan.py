"""What a plan may say, and what its author is told when it says something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_eval.errors import ConfigError
from harness_eval.reference.plan import PlanStep, fill, load_plan

GOOD = """
done: "The port is ${port}."
steps:
  - {say: "I look.", run: "cat log", learn: {port: "port=([0-9]+)"}, otherwise: "grep port log", goal: find}
  - {say: "I read.", read: "app.ini"}
  - {say: "I change ${port}.", edit: {path: "app.ini", old: "port = 1", new: ""}, goal: change}
  - {say: "I note.", create: {path: "note.txt", text: "${port}"}, goal: find}
"""


def write(place: Path, text: str) -> Path:
    path = place / "plan.yaml"
    path.write_text(text)
    return path


def test_every_part_of_a_plan_arrives(tmp_path: Path) -> None:
    plan = load_plan(write(tmp_path, GOOD))
    assert plan.done == "The port is ${port}."
    assert plan.goals == ("find", "change")
    assert plan.steps[0] == PlanStep(
        "I look.", "run", {"command": "cat log"}, {"port": "port=([0-9]+)"}, "grep port log", "find"
    )
    assert plan.steps[1] == PlanStep("I read.", "read", {"path": "app.ini"})
    assert plan.steps[2].arguments == {"path": "app.ini", "old": "port = 1", "new": ""}
    assert (plan.steps[3].kind, plan.steps[3].arguments) == ("create", {"path": "note.txt", "text": "${port}"})


def test_what_was_learned_fills_the_text_and_nothing_else_does() -> None:
    assert fill("${port} $port ${port}", {"port": "8"}) == "8 $port 8"
    with pytest.raises(KeyError):
        fill("${host}", {"port": "8"})


def steps(first: str, second: str = '{say: "b", run: "c"}') -> str:
    return f"done: d\nsteps:\n  - {first}\n  - {second}\n"


BROKEN = [
    ("done: [", "is not YAML"),
    ("done: a\nsteps: " + "[" * 5000, "nested too deep"),
    ("- a\n", "must hold a mapping of keys"),
    ("done: d\nstep: []\n", "unknown key 'step'; did you mean 'steps'?"),
    ("done: ''\nsteps: []\n", "done: expected the sentence"),
    ('done: d\nsteps:\n  - {say: "a", run: "b"}\n', "at least 2 steps"),
    (steps("a"), "step 1: expected keys such as say and run, not str"),
    (steps('{say: "a", run: "b", lern: {}}'), "step 1: unknown key 'lern'; did you mean 'learn'?"),
    (
        steps('{say: "a", run: "b", read: "c"}'),
        "step 1: expected exactly one of run, read, create, edit; found run, read",
    ),
    (steps('{say: "a"}'), "found none"),
    (steps('{run: "a"}'), "step 1: say: missing"),
    (steps('{say: "a", run: 3}'), "step 1: run: expected a text, not 3"),
    (steps('{say: "a", run: ""}'), "step 1: run: expected a text"),
    (steps('{say: "a", run: "b", goal: 3}'), "step 1: goal: expected a text"),
    (steps('{say: "a", run: "b", otherwise: "c"}'), "step 1: otherwise is only used"),
    (steps('{say: "a", edit: "b"}'), "step 1: edit: expected the keys path, old, new"),
    (steps('{say: "a", edit: {path: "b", old: "c"}}'), "step 1: edit: new: missing"),
    (steps('{say: "a", edit: {path: "b", old: "", new: "c"}}'), "step 1: edit.old: expected a text"),
    (steps('{say: "a", create: {path: "b", txt: "c"}}'), "step 1: create: unknown key 'txt'; did you mean 'text'?"),
    (steps('{say: "a", run: "b", learn: [c]}'), "step 1: learn: expected names with a regex each"),
    (steps('{say: "a", run: "b", learn: {c: "("}}'), "step 1: learn.c: bad regex '('"),
    (steps(f'{{say: "a", run: "b", learn: {{c: "{"(" * 5000}"}}}}'), "step 1: learn.c: bad regex"),
    (steps('{say: "a", run: "b", learn: {c: "d"}}'), "step 1: learn.c: the regex 'd' has 0 groups"),
    (steps('{say: "a", run: "b", learn: {c: "(d)(e)"}}'), "has 2 groups, expected exactly one"),
    (steps('{say: "a", run: "b", learn: {c-d: "(e)"}}'), "'c-d' is no name"),
    (steps('{say: "a", run: "b ${c}"}'), "step 1: ${c} is used but no earlier step learns it; nothing is learned"),
    (steps('{say: "a", run: "b ${c}", learn: {c: "(d)"}}'), "step 1: ${c} is used"),
    (steps('{say: "a", run: "b", learn: {port: "(d)"}}', '{say: "${prt}", run: "e"}'), "step 2: ${prt} is used"),
    (steps('{say: "a", run: "b", learn: {port: "(d)"}}', '{say: "f", run: "${prt}"}'), "did you mean 'port'?"),
    ("done: '${c}'\nsteps: [{say: a, run: b}, {say: a, run: b}]", "done: ${c} is used"),
]


@pytest.mark.parametrize(("text", "message"), BROKEN)
def test_a_broken_plan_is_named_with_its_step(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as raised:
        load_plan(path)
    assert message in str(raised.value)
    assert str(path) in str(raised.value)


def test_a_missing_plan_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"plan\.yaml: missing"):
        load_plan(tmp_path / "plan.yaml")
