"""What is derived of trials: gaps, requests, deeds whatever the tools are called, and the alignment of two trials."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_eval.axes import Truncation, make_level
from harness_eval.report.trajectory_deeds import Deed, alike, deeds_of
from harness_eval.report.trajectory_index import Index, Wanted, meant, ordered, select
from harness_eval.report.trajectory_pair import Pair, align
from harness_eval.report.trajectory_sent import Sent, requests
from harness_eval.report.trajectory_text import result, spans
from harness_eval.report.trajectory_told import read_trial
from harness_eval.types import Action, Malformed, Note, Observation, Step, ToolCall, Trajectory
from tests.report.trials import does, harness, played, record, run_folder, says, step

CANONICAL = harness()
CUTS = [
    make_level("truncation", {"level": name, **more})
    for name, more in (
        ("middle", {"cap": 100}),
        ("middle", {"cap": 100, "notice": "silent"}),
        ("head", {"cap": 100}),
        ("tail", {"cap": 100}),
        ("tail", {"cap": 100, "notice": "silent"}),
        ("fifth-head", {"cap": 100, "notice": "silent"}),
        ("fifth-head", {"cap": 100}),
        ("last-lines", {"lines": 3}),
        ("preview-and-file", {"cap": 300, "preview": 100}),
        ("silent", {"cap": 100}),
    )
]
LINES = st.lists(st.text("abc ", min_size=1, max_size=60), min_size=12, max_size=30)


@settings(max_examples=60, deadline=None)
@given(level=st.sampled_from(CUTS), lines=LINES)
def test_both_sides_of_a_gap_are_what_the_result_really_began_and_ended_with(
    level: Truncation, lines: list[str]
) -> None:
    whole = "\n".join(lines)
    shown = level.cut(whole, "/tmp/spilled")
    told = result(Observation(shown, len(whole)), level)
    if shown == whole:
        assert told.gap is None
    elif told.gap is not None:  # a cut that saves nothing cannot be told from none
        assert whole.startswith(told.before)
        assert whole.endswith(told.after)
        assert told.gap.shown == len(told.before) + len(told.after)
        assert told.gap.length == len(whole)
        assert bool(told.gap.notice) == (
            getattr(level, "notice", "marker") != "silent" and level.level_name() != "silent"
        )


def test_numbers_in_a_row_are_told_as_one_span() -> None:
    assert spans([5, 1, 2, 3, 9, 8]) == "1–3, 5, 8–9"
    assert spans([]) == ""


def sent_of(**levels: object) -> tuple[list[Sent], Trajectory]:
    chosen = harness.__wrapped__("h", **levels)
    made = played(chosen)
    found = requests(chosen, made)
    assert all(isinstance(each, Sent) and each.as_recorded for each in found.values())
    asked = [found[place] for place, event in enumerate(made.events) if isinstance(event, Step)]
    return [each for each in asked if isinstance(each, Sent)], made


def test_every_request_is_derived_and_what_it_lacks_is_told() -> None:
    full, _ = sent_of()
    assert not any(each.lacks for each in full)
    assert [each.rewritten for each in full] == [0] * len(full)
    cleared, _ = sent_of(context={"level": "clear-results", "keep": 2})
    assert cleared[3].lacks == ("results of step 1 cleared",)
    assert cleared[5].lacks == ("results of steps 1–3 cleared",)
    assert cleared[5].rewritten > 0
    window, _ = sent_of(context={"level": "window", "steps": 2})
    assert window[4].lacks == ("steps 1–2 not sent",)


@pytest.mark.parametrize(
    ("level", "words"),
    [
        ("drop", "thinking of steps 1–3 not sent"),
        ("empty", "thinking of steps 1–3 sent as an empty field"),
        ("as-text", "thinking of steps 1–3 sent as text"),
        ("last", "thinking of steps 1–2 not sent"),
    ],
)
def test_what_becomes_of_thinking_is_told(level: str, words: str) -> None:
    sent, _ = sent_of(thinking=level)
    assert sent[3].lacks == (words,)
    assert sent[3].newly


def test_a_summary_tells_what_it_stands_for_and_how_it_was_put_back() -> None:
    sent, made = sent_of(context={"level": "summary", "inject": "acknowledged"})
    compacted = [each for each in sent if each.told_instead]
    assert compacted[0].told_instead == ("summary as user message", "summary as assistant message")
    assert compacted[0].lacks[0].endswith("not sent")
    assert made.events


def test_a_request_that_today_is_another_one_is_said_to_be() -> None:
    made = played(CANONICAL)
    other = requests(harness("other", prompt="handbook"), made)
    assert all(isinstance(each, Sent) for each in other.values())
    changed = Trajectory(made.system + "!", made.prompt, made.events)
    assert {each.as_recorded for each in requests(CANONICAL, changed).values() if isinstance(each, Sent)} == {False}


def deeds(toolset: str, tool: str, **arguments: object) -> tuple[Deed, ...]:
    return deeds_of(ToolCall("c", tool, arguments), harness(f"with-{toolset}", toolset=toolset))


PATCH = "*** Begin Patch\n*** Update File: a/b.py\n x = 1\n-y = 2\n+y = 3\n*** End Patch"
BLOCKS = "<<<<<<< SEARCH\nx = 1\ny = 2\n=======\nx = 1\ny = 3\n>>>>>>> REPLACE"


@pytest.mark.parametrize(
    ("toolset", "tool", "arguments"),
    [
        ("shell-and-editor", "str_replace_editor", {"command": "str_replace", "old_str": "y = 2", "new_str": "y = 3"}),
        ("pascal-case", "Edit", {"old_string": "x = 1\ny = 2", "new_string": "x = 1\ny = 3"}),
        ("apply-patch", "apply_patch", {"input": PATCH}),
        ("verb-noun", "apply_diff", {"diff": BLOCKS}),
        ("opaque-aliases", "t4", {"b": "y = 2", "c": "y = 3"}),
    ],
)
def test_an_edit_is_one_deed_under_every_toolset(toolset: str, tool: str, arguments: dict[str, str]) -> None:
    path = {"pascal-case": "file_path", "opaque-aliases": "a", "apply-patch": ""}.get(toolset, "path")
    given = {**arguments, **({path: "./a/b.py"} if path else {})}
    assert deeds(toolset, tool, **given) == (Deed("edit", "a/b.py", ("- y = 2", "+ y = 3")),)


def test_reading_and_writing_with_a_shell_is_reading_and_writing() -> None:
    read = Deed("read", "notes.md", ("", ""))
    assert deeds("shell-only", "bash", command="cat notes.md") == (read,)
    assert deeds("shell-and-editor", "str_replace_editor", command="view", path="./notes.md") == (read,)
    assert deeds("snake-case", "read_file", file_path="notes.md") == (read,)
    made = deeds("shell-only", "bash", command="cat > out.txt << 'END'\nhello\nEND")
    assert made == deeds("camel-case", "write", filePath="out.txt", content="hello\n")


def test_what_a_command_does_to_a_file_it_names_is_like_the_edit_of_it() -> None:
    edit = Deed("edit", "conf/app.ini", ("- a", "+ b"))
    assert alike(Deed("run", "sed -i s/a/b/ conf/app.ini"), edit)
    assert not alike(Deed("run", "grep a conf/app.ini"), edit)
    assert not alike(Deed("run", "sed -i s/a/b/ other/conf/app.ini2"), edit)
    assert not alike(edit, Deed("edit", "conf/app.ini", ("- a", "+ c")))
    assert alike(edit, Deed("edit", "conf/app.ini", ("- a = 1", "+ b = 1")))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda s: st.lists(s, max_size=3) | st.dictionaries(st.text(max_size=9), s, max_size=3),
)


@settings(max_examples=40, deadline=None)
@given(data=st.data(), toolset=st.sampled_from(["shell-and-editor", "apply-patch", "pascal-case", "opaque-aliases"]))
def test_no_arguments_are_too_strange(data: st.DataObject, toolset: str) -> None:
    under = harness(f"with-{toolset}", toolset=toolset)
    tool = data.draw(st.sampled_from(under.tools))
    names = st.sampled_from([p.name for p in tool.parameters]) | st.text(max_size=3)
    arguments = data.draw(st.dictionaries(names, JSON, max_size=5))
    for deed in deeds_of(ToolCall("c", tool.name, arguments), under):
        assert deed.words()
    assert deeds_of(Malformed("m", "x", "{", "no object"), under)[0].kind == "unreadable"


def pair_of(tmp_path: Path, left: Trajectory, right: Trajectory, other: object = None) -> Pair:
    under = other or harness("other")
    rows = run_folder(tmp_path / "run", {"canonical": left, under.name: right}, CANONICAL, under)
    return align(*(read_trial(tmp_path / "run", rows[name]) for name in ("canonical", under.name)))


def states(pair: Pair) -> str:
    return " ".join(row.state for row in pair.rows)


def numbers(pair: Pair) -> list[tuple[int | None, int | None]]:
    return [(row.left and row.left.number, row.right and row.right.number) for row in pair.rows]


def cat(name: str, shown: str = "text") -> Step:
    return does("bash", shown, command=f"cat {name}")


def test_steps_that_only_one_trial_made_move_the_others_apart(tmp_path: Path) -> None:
    pair = pair_of(
        tmp_path, record(cat("a"), cat("b"), says("Done.")), record(cat("a"), cat("x"), cat("b"), says("Done!"))
    )
    assert numbers(pair) == [(1, 1), (None, 2), (2, 3), (3, 4)]
    assert states(pair) == "same done same same"
    assert (pair.first, pair.parted) == (1, 1)
    assert pair.headline == "They go different ways at step 2 of other: other reads x, canonical has no such step."


def test_the_same_deed_with_another_result_comes_before_the_parting(tmp_path: Path) -> None:
    short = harness("short", truncation="head")
    cut = Observation(short.truncation.cut("y" * 20_000), 20_000)
    pair = pair_of(
        tmp_path, record(cat("a", "y" * 20_000), cat("b"), says("Done.")), record(cat("a", cut), says("So.")), short
    )
    assert states(pair) == "shown done done"
    assert "canonical is shown all of it, short 16,000 of 20,000 characters." in pair.headline
    assert pair.headline.endswith("They go different ways at step 2: canonical reads b, short finishes.")


def test_plans_and_handing_in_twice_stand_beside_the_task(tmp_path: Path) -> None:
    other = harness("other", planning="todo", stopping="confirm-twice")
    submit = does("submit", "ok", message="done")
    right = record(does("todo_write", "noted", todos=[]), cat("a"), submit, Note("Sure?", "confirm"), submit)
    pair = pair_of(tmp_path, record(cat("a"), says("Done.")), right, other)
    assert states(pair) == "beside same same beside"
    assert pair.first is None
    assert pair.headline == "They do the same and are shown the same, in all 2 steps."


def test_numbered_lines_and_what_chance_makes_are_no_difference(tmp_path: Path) -> None:
    other = harness("other", toolset="pascal-case")
    left = record(cat("a", "one\ntwo"), does("bash", "took 0.3 s in /tmp/box-1/x", command="make"), says("Done."))
    right = record(
        does("Read", "     1\tone\n     2\ttwo", file_path="a"),
        does("Bash", "took 1.25 s in /tmp/box-2/x", command="make"),
        says("Done."),
    )
    assert pair_of(tmp_path, left, right, other).first is None


def test_a_failure_on_one_side_is_told(tmp_path: Path) -> None:
    failed = does("bash", Observation("no", 2, failed=True), command="make")
    pair = pair_of(tmp_path, record(does("bash", "ok", command="make"), says("x")), record(failed, says("x")))
    assert (
        pair.headline
        == "They are shown something else at step 1: both run make; it fails for other and not for canonical."
    )


CHOICES = st.sampled_from(
    [
        cat("a"),
        cat("b"),
        cat("a", "other"),
        says("hm"),
        does("bash", "x", command="make"),
        Note("Go on.", "nudge"),
        does("nobody", "x", y=1),
        step(Action("", None, (), (Malformed("m", "", "{", "bad"),)), "no"),
    ]
)


@settings(max_examples=25, deadline=None)
@given(left=st.lists(CHOICES, max_size=7), right=st.lists(CHOICES, max_size=7))
def test_every_turn_stands_in_one_row_in_its_order_and_equal_trials_are_the_same(
    left: list[object], right: list[object], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("pair")
    rows = run_folder(
        folder / "run", {"canonical": record(*left), "other": record(*right)}, CANONICAL, harness("other")
    )
    one, two = (read_trial(folder / "run", rows[name], derive=False) for name in ("canonical", "other"))
    pair = align(one, two)
    assert [row.left for row in pair.rows if row.left] == list(one.turns)
    assert [row.right for row in pair.rows if row.right] == list(two.turns)
    assert all((row.left is not None and row.right is not None) or row.state in ("done", "beside") for row in pair.rows)
    same = align(one, one)
    assert same.first is None
    mirrored = align(two, one)
    assert (mirrored.first is None) == (pair.first is None)


def test_the_index_takes_what_was_appended_and_the_latest_line_of_a_trial(tmp_path: Path) -> None:
    made = {name: record(says("x")) for name in ("canonical", "h1", "h10")}
    run_folder(tmp_path / "run", made, CANONICAL)
    index = Index(tmp_path / "run")
    index.refresh()
    assert [entry.outcome for entry in index.entries.values()] == ["solved", "unsolved", "unsolved"]
    with (tmp_path / "run" / "results.jsonl").open("ab") as lines:
        lines.write(
            (tmp_path / "run" / "results.jsonl")
            .read_bytes()
            .splitlines()[1]
            .replace(b"false", b"true")
            .replace(b'"score":0.0', b'"score":1.0')
            + b"\n"
        )
        lines.write(b'{"task": "torn')
    index.refresh()
    assert index.entries["fix/h1/ref/0"].outcome == "solved"
    assert len(index.entries) == 3
    row = index.row("fix/h1/ref/0")
    assert row is not None
    assert row["score"] == 1.0
    assert index.row("../../etc/passwd") is None


def test_names_are_whole_ones_else_parts_or_globs(tmp_path: Path) -> None:
    names = {"h1", "h10", "h2-long"}
    assert meant("h1", names) == {"h1"}
    assert meant("H", names) == names
    assert meant("h*0", names) == {"h10"}
    run_folder(tmp_path / "run", {name: record(says("x")) for name in ("h2", "h1", "h10")}, CANONICAL)
    index = Index(tmp_path / "run")
    index.refresh()
    found = select(index.entries.values(), Wanted(outcome="unsolved", harness="h1"))
    assert [entry.name for entry in found] == ["fix/h1/ref/0"]
    assert [entry.harness for entry in ordered(index.entries.values(), "score", down=True)] == ["h2", "h1", "h10"]
    assert [e.name for e in select(index.entries.values(), Wanted(label="wrong_answer"))] == [
        "fix/h1/ref/0",
        "fix/h10/ref/0",
    ]
