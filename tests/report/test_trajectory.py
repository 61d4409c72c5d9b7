"""Trials as HTML: everything that was sent and said is there, safe, with its gaps marked, and not too large."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_eval import recording, store
from harness_eval.report.trajectory import LARGEST, pair_html, trial_html
from harness_eval.report.trajectory_text import visible
from harness_eval.types import (
    Action,
    Compaction,
    Malformed,
    Note,
    Observation,
    Reply,
    Result,
    ToolCall,
    Trajectory,
    TrialKey,
    Verdict,
)
from tests.report.trials import Checked, does, harness, played, record, run_folder, says, step

CANONICAL = harness()
TEXT = harness("spoken", protocol="json-text", results="xml-envelope")
PIECES = [
    "<script>",
    "</pre>",
    "</details>",
    "-->",
    "&lt;",
    "'\"",
    "]]>",
    "\x1b[2J",
    "\u202e",
    "\ud800",
    "\x00",
    "{{ 7 }}",
]
HOSTILE = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=6).map("".join)
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def hostile_step(text: str) -> object:
    calls = (ToolCall(text, text, {text: text, "more": [text]}), ToolCall("b", "bash", {"command": text}))
    bad = (Malformed("m", text, text, text, cut=True),)
    seen = (Observation(text, len(text) + 9), Observation(text, len(text), failed=True), text)
    reply = Reply(text, oddities=(text,), faults=(text, "infra.overloaded"))
    return step(Action(text, text, calls, bad), *seen, finish_reason=text, labels=(text,), reply=reply)


@settings(max_examples=25, deadline=None)
@given(text=HOSTILE)
def test_whatever_stands_in_a_record_the_fragment_is_well_formed_and_shows_it(text: str) -> None:
    events = (
        Note(text, text),
        hostile_step(text),
        Compaction(1, text),
        hostile_step(text),
        Note(text, text, "assistant"),
    )
    made = Trajectory(text, text, events)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        key = TrialKey(f"t{text}".encode(errors="replace").decode(), "canonical", "ref")
        with store.open_run(folder, {"name": text, "canonical": text, "harnesses": [{"name": text}]}) as run:
            for repeat in (0, 1):
                name = TrialKey(key.task, key.harness, key.endpoint, repeat)
                run.append(Result(name, "id", Verdict(0.5, text), trajectory=made, labels=(text,)))
        left, right = store.latest(folder)
        for html in (trial_html(folder, left), pair_html(folder, left, right)):
            read = Checked(html)
            assert not UNSEEN.search(html)
            if text.strip() and text == text.expandtabs() and "\r" not in text:
                assert visible(text) in read.text


def test_what_a_whole_dialogue_met_is_told_in_any_protocol(tmp_path: Path) -> None:
    compacting = harness("summary", context="summary", stopping="submit-tool", thinking="drop")
    records = {h.name: played(h) for h in (CANONICAL, TEXT, compacting)}
    rows = run_folder(tmp_path / "run", records, CANONICAL, TEXT, compacting)
    told = {name: Checked(trial_html(tmp_path / "run", row)).text for name, row in rows.items()}
    for name, text in told.items():
        assert "requests derived again from the record, each as it was recorded" in text, name
        assert "I want to see what ls says." in text
    assert "context summary not full" in " ".join(told["summary"].split())
    assert "Compaction: these notes of the model's stand for step" in told["summary"]
    assert "instead: summary as user message" in told["summary"]
    assert "described in the system prompt" in told["spoken"]
    Checked(pair_html(tmp_path / "run", rows["canonical"], rows["summary"]))


def test_a_cut_is_a_marked_gap_where_it_was_made(tmp_path: Path) -> None:
    shown = CANONICAL.truncation.cut("a" * 40_000 + "b" * 44_213)
    made = record(does("bash", Observation(shown, 84_213), command="cat big"), says("Done."))
    rows = run_folder(tmp_path / "run", {"canonical": made}, CANONICAL)
    html = trial_html(tmp_path / "run", rows["canonical"])
    before, gap, after = html.partition('<p class="t-gap">')
    assert gap
    assert "30,000 of 84,213 characters shown" in after
    assert "the middle was cut" in after
    assert "[output truncated: 54213 characters left out.]" in after
    assert "aaaa" in before
    assert "bbbb" not in before
    assert "bbbb" in after


def test_what_faults_did_is_said_at_the_call_they_did_it_to(tmp_path: Path) -> None:
    failing, cutting = harness("failing", faults="failing-call"), harness("cutting", faults="truncated-result")
    cut = record(*(does("bash", "x" * 80, command=f"cat {n}") for n in range(4)), says("Done."))
    rows = run_folder(tmp_path / "run", {"failing": played(failing), "cutting": cut}, failing, cutting)
    told = {name: Checked(trial_html(tmp_path / "run", row)).text for name, row in rows.items()}
    assert "fault failing-call: answered by the harness on purpose; nothing was run" in told["failing"]
    assert told["cutting"].count("fault truncated-result: cut on purpose to 80 characters, without a word") == 1


def test_labels_and_failed_requests_stand_with_owner_and_effect(tmp_path: Path) -> None:
    reply = Reply("x", faults=("infra.overloaded",))
    made = record(step(Action("x"), labels=("model.premature_stop",), reply=reply))
    rows = run_folder(tmp_path / "run", {"canonical": made}, CANONICAL)
    text = " ".join(Checked(trial_html(tmp_path / "run", rows["canonical"])).text.split())
    assert "model.premature_stop announced the next step and stopped model, model failure" in text
    assert "After 1 failed request: infra.overloaded the engine is overloaded provider, excluded" in text


def test_a_recovered_reading_stands_apart_with_its_score(tmp_path: Path) -> None:
    followed = recording.as_record(record(does("bash", "file", command="ls"), says("Now it is done.")))
    told = {"recovered": {**followed, "score": 1.0}}
    rows = run_folder(tmp_path / "run", {"canonical": record(says("leaked"))}, CANONICAL, extra=told)
    row = {**rows["canonical"], "recovered": {"score": 1.0, "solved": True}}
    text = Checked(trial_html(tmp_path / "run", row)).text
    strict, heading, after = text.partition("Recovered reading")
    assert "leaked" in strict
    assert heading
    assert "Now it is done." in after
    assert "recovered score 1.0" in after


def test_ten_megabytes_in_one_line_and_thousands_of_steps_stay_a_small_fragment(tmp_path: Path) -> None:
    huge = does("bash", Observation('"<' * 5_000_000, 10_000_000), command="x" * 1_000_000)
    many = [does("bash", f"<{n}>" * 50, command=f"echo {n}") for n in range(500)]
    flood = step(Action("", None, tuple(ToolCall("c", "bash", {f"k{n}": "v" * 99}) for n in range(3_000))))
    made = {"canonical": record(huge, *many, flood, says("Done.")), "other": record(huge, says("Done."))}
    rows = run_folder(tmp_path / "run", made, CANONICAL, harness("other"))
    trial = trial_html(tmp_path / "run", rows["canonical"])
    assert len(trial) <= LARGEST
    assert "of 10,000,000 characters are left out of this page" in Checked(trial).text
    assert "are left out of this page. harness-eval show prints them." in Checked(trial).text
    pair = pair_html(tmp_path / "run", rows["canonical"], rows["other"])
    assert len(pair) <= LARGEST
    Checked(pair)


def test_credentials_are_replaced_even_where_a_text_is_cut(tmp_path: Path) -> None:
    key = "sk-" + "a1B2c3D4" * 6
    for length in (0, 3_970, 5_980):
        made = record(does("bash", f"{'x ' * (length // 2)}{key}{' y' * 9_000}", command=f"echo {key}"), says(key))
        rows = run_folder(tmp_path / f"run-{length}", {"canonical": made}, CANONICAL)
        html = trial_html(tmp_path / f"run-{length}", rows["canonical"])
        assert key[:20] not in html
        assert "[redacted]" in html


FRAME = b"\x28\xb5\x2f\xfd"  # how any begins


@pytest.mark.parametrize("damage", [b"no frame at all", b"", FRAME + b"\xe0" + bytes(6) + b"\x10\0", FRAME + b"\xe0"])
def test_a_damaged_record_is_said_and_raises_nothing(tmp_path: Path, damage: bytes) -> None:
    rows = run_folder(tmp_path / "run", {"canonical": record(says("x")), "h": record(says("y"))}, CANONICAL)
    path = tmp_path / "run" / store.TRAJECTORIES / recording.file_name(store.key_of(rows["h"]))
    path.write_bytes(damage)
    assert "is damaged" in Checked(trial_html(tmp_path / "run", rows["h"])).text
    assert "is damaged" in Checked(pair_html(tmp_path / "run", rows["canonical"], rows["h"])).text
    assert str(tmp_path) not in trial_html(tmp_path / "run", rows["h"])


@pytest.mark.parametrize("other", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_is_not_read(tmp_path: Path, other: Callable[[Path], None]) -> None:
    rows = run_folder(tmp_path / "run", {"h": record(says("y"))}, CANONICAL)
    path = tmp_path / "run" / store.TRAJECTORIES / recording.file_name(store.key_of(rows["h"]))
    path.unlink()
    other(path)
    assert "is damaged: it is no file" in Checked(trial_html(tmp_path / "run", rows["h"])).text


def test_a_trial_without_a_record_or_a_known_harness_says_so(tmp_path: Path) -> None:
    rows = run_folder(tmp_path / "run", {"stranger": record(does("bash", "a", command="ls"), says("x"))}, CANONICAL)
    assert "levels of this harness were not recorded" in trial_html(tmp_path / "run", rows["stranger"])
    nowhere = {**rows["stranger"], "repeat": 7}
    assert "nothing is recorded of this trial" in trial_html(tmp_path / "run", nowhere)
    bare = {"task": "a", "harness": "b", "endpoint": "c", "repeat": 0, "solved": True, "score": 1.0}
    assert "nothing is recorded" in trial_html(tmp_path / "none", {**bare, "usage": {}, "seconds": 0})


def test_a_pair_folds_what_is_common_and_marks_the_first_divergence_once(tmp_path: Path) -> None:
    common = [does("bash", f"r{n}", command=f"cat part{n}") for n in range(3)]
    left, right = record(*common, does("bash", "z", command="make"), says("Done.")), record(*common, says("I stop."))
    rows = run_folder(tmp_path / "run", {"canonical": left, "h": right}, CANONICAL, harness("h"))
    html = pair_html(tmp_path / "run", rows["canonical"], rows["h"])
    text = " ".join(Checked(html).text.split())
    assert html.count('id="divergence"') == 1
    assert "3 steps with the same deeds and results" in text
    assert "They go different ways at step 4: canonical runs make, h finishes." in text
    assert html.index("3 steps with the same") < html.index('id="divergence"') < html.index("no such step")
