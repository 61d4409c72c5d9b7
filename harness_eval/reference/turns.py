"""The turns that the uncoupled agent takes: what it says, what it thinks, and at most one call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from harness_eval.reference.moment import Moment
from harness_eval.reference.plan import PlanStep, fill
from harness_eval.reference.progress import Progress
from harness_eval.reference.reading import SUMMARY_OPENING
from harness_eval.reference.shell_programs import only_matches, show_file
from harness_eval.reference.skills import Call, todo_item
from harness_eval.reference.ways import fits, ways_to

Purpose: TypeAlias = Literal["work", "todo", "words", "end"]

_PATIENCE = 4  # own attempts to end before it only talks


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply before it is written in any wire format; `purpose` says what the turn is for."""

    purpose: Purpose
    text: str
    thinking: str
    call: Call | None = None


def decide(moment: Moment) -> Turn:
    """What the agent does now."""
    if moment.situation.asks_summary:
        return summary(moment)
    if moment.situation.asks_plan:
        return plan_in_words(moment)
    if todo_is_due(moment):
        return todo(moment)
    if moment.here.ended:
        return end(moment)
    if len(moment.situation.turns) > 3 * moment.here.of + 8:
        return end(moment, "This takes too long")
    return work(moment)


def work(moment: Moment) -> Turn:
    """The step that comes now, in the way that `here.how` asks for."""
    try:
        ways = ways_now(moment)
    except KeyError as missing:
        return end(moment, f"I could not find the {missing.args[0]}")
    if not ways:
        return end(moment, f"I am offered no tool to {moment.step.kind} anything with")
    number = {"again": 1, "again twice": 2}.get(moment.here.how, 0)
    place = replace(moment.here, form="acting").line()
    return Turn("work", f"{place}: {moment.words(moment.step.say)}", thinking(moment), ways[min(number, len(ways) - 1)])


def ways_now(moment: Moment) -> list[Call]:
    """All calls of which each does the step that comes now, the most direct one first.

    Raises:
        KeyError: if it needs something that was never learned.
    """
    said = moment.words(moment.step.say)
    kind, wanted = _wanted(moment.step, moment.here)
    content = moment.content_seen(wanted["path"]) if kind == "edit" else None
    ways = ways_to(kind, wanted, moment.skills, said, content)
    return [moment.adapted(way) for way in ways if fits(way, moment.situation.dialect)]


def _wanted(step: PlanStep, here: Progress) -> tuple[str, dict[str, str]]:
    """The kind of work and its arguments; a KeyError where something was never learned."""
    filled = {name: fill(text, here.values) for name, text in step.arguments.items()}
    if not here.how.startswith("narrow"):
        return step.kind, filled
    whole = filled["command"] if step.kind == "run" else show_file(filled["path"])
    command = fill(step.otherwise, here.values) if step.otherwise else whole
    return "run", {"command": only_matches(command, step.learn.values()) if here.how == "narrowest" else command}


def end(moment: Moment, trouble: str = "") -> Turn:
    """The end, in the way that the harness wants it; after some attempts in words only."""
    if trouble or moment.here.form == "stopped":
        here = replace(moment.here, form="stopped")
        said = f"{here.line()}: {trouble or 'I could not do the task'}."
    else:
        said = f"{moment.here.line()}. {moment.words(moment.script.plan.done)}"
    attempts = sum(turn.called and moment.here.line() in turn.text for turn in moment.situation.turns)
    call = closing_call(moment, said) if attempts < _PATIENCE else None
    return Turn("end", said, "There is nothing left that I would do, so this is the end.", call)


def closing_call(moment: Moment, said: str) -> Call | None:
    """The call that ends the work here; None where an answer without a call does."""
    if skill := moment.skills.get("submit"):
        return moment.adapted(skill.call(said))
    if word := moment.situation.sentinel:
        ways = ways_to("run", {"command": f"echo {word}"}, moment.skills, said, None)
        return moment.adapted(ways[0]) if ways else None
    return None


def summary(moment: Moment) -> Turn:
    """What must not be forgotten: the place, and through its line everything learned."""
    steps = moment.script.plan.steps
    done = " ".join(moment.words(step.say) for step in steps[: moment.here.step - 1]) or "Nothing yet."
    left = " ".join(moment.words(step.say) for step in steps[moment.here.step - 1 :]) or "Nothing."
    text = f"{SUMMARY_OPENING}\nDone: {done}\nLeft: {left}\n{replace_form(moment.here).line()}."
    return Turn("words", text, "The conversation will be shortened, so I write down my place and what I know.")


def plan_in_words(moment: Moment) -> Turn:
    """The steps as a list, before any call."""
    steps = moment.script.plan.steps
    listed = "\n".join(f"- {moment.words(step.say)}" for step in steps)
    text = f"My plan:\n{listed}\n{replace_form(moment.here).line()}."
    return Turn("words", text, "A plan is wanted first. I list what I mean to do, in order.")


def replace_form(here: Progress) -> Progress:
    """The place as something that is still to come, unless the agent has given up."""
    return here if here.form == "stopped" else replace(here, form="next")


def todo_is_due(moment: Moment) -> bool:
    """Whether there is a todo list to write: at the start, when a goal was reached, and at the end."""
    if "todo" not in moment.skills or moment.here.form == "stopped":
        return False
    if moment.last is None:
        return True
    if moment.last.form != "acting" or moment.here.step == moment.last.step:
        return False
    steps = moment.script.plan.steps
    reached = steps[moment.last.step - 1].goal
    return moment.here.done or (reached is not None and all(s.goal != reached for s in steps[moment.here.step - 1 :]))


def todo(moment: Moment) -> Turn:
    """The todo list as it is now: one item for each goal, or one for each step of a plan without goals."""
    plan, here = moment.script.plan, moment.here
    left = {step.goal for step in plan.steps[here.step - 1 :]}
    if plan.goals:
        items = [(goal, goal not in left) for goal in plan.goals]
    else:
        items = [(moment.words(step.say), number < here.step) for number, step in enumerate(plan.steps, 1)]
    skill = moment.skills["todo"]
    listed = [todo_item(skill, content, done) for content, done in items]
    said = f"{replace_form(here).line()}. I keep my list up to date."
    return Turn("todo", said, "The list shows what is done and what is left.", skill.call(said, todo=listed))


def thinking(moment: Moment) -> str:
    """What goes through the agent's mind before a step, in more words than it says aloud."""
    here, steps = moment.here, moment.script.plan.steps
    known = "; ".join(f"the {name} is {value}" for name, value in here.values.items()) or "nothing for certain yet"
    before = moment.words(steps[here.step - 2].say) if here.step > 1 else "I begin with the task as it is worded."
    after = moment.words(steps[here.step].say) if here.step < here.of else "Then I can say what was done."
    retry = " The last result did not give me what I need, so I try another way." if here.how else ""
    return f"Behind me: {before} I know by now: {known}.{retry} Now: {moment.words(moment.step.say)} After it: {after}"
