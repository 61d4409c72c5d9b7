"""Failures that people met in public, as wire logs through the command's own function."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness_eval.diagnosis.labels import LABELS
from tests.diagnosis.logs import Dialogue, Line, call, calling, diagnosed, exchange, labels

SHARED = Path(__file__).resolve().parents[3] / "shared" / "cases"
_DECIDABLE = re.compile(r"Decidable from the exchange alone \(\d+\): (.*?)\.\n")


def decidable() -> list[str]:
    readme = SHARED / "README.md"
    found = _DECIDABLE.search(readme.read_text(encoding="utf-8")) if readme.is_file() else None
    return found[1].split(", ") if found else ["none"]


@functools.cache
def case(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((SHARED / f"{name}.yaml").read_text(encoding="utf-8"))
    return loaded


def is_control(name: str) -> bool:
    return (SHARED / f"{name}.yaml").is_file() and bool(case(name)["negative_control"])


def lines_of(response: dict[str, Any], request: Any) -> list[Line]:
    kept = {key: response[key] for key in ("status", "headers", "body", "chunks") if key in response}
    line = {"request": request, "response": kept, "seconds": response.get("elapsed_s")}
    return [line] * response.get("repeat", 1)


def asked(name: str, instead: Any = None) -> list[list[Line]]:
    """The logs of a case: one for each variant, or one with all turns; `instead` is the request to put in."""
    request = instead or json.loads(case(name).get("request") or "null")
    turns = [lines_of(response, request) for response in case(name)["responses"]]
    variants = case(name)["responses_are"] == "variants"
    return turns if variants else [[line for lines in turns for line in lines]]


def per_turn(name: str) -> list[str] | None:
    """The label of each turn of a sequence, where the case has them."""
    wanted = case(name)["expected_classification"].get("per_response")
    if case(name)["responses_are"] == "variants" or wanted is None:
        return None
    repeats = [response.get("repeat", 1) for response in case(name)["responses"]]
    return [label for label, times in zip(wanted, repeats, strict=True) for _ in range(times)]


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", decidable())
def test_a_case_that_the_exchange_decides_has_its_label_owner_and_effect(name: str, tmp_path: Path) -> None:
    expected = case(name)["expected_classification"]
    logs = asked(name)
    wanted = expected.get("per_response") if case(name)["responses_are"] == "variants" else None
    for lines, label in zip(logs, wanted or [expected["label"]] * len(logs), strict=True):
        *turns, dialogue = diagnosed(lines, tmp_path)
        assert dialogue["label"] == label, dialogue
        if label == expected["label"]:
            assert (dialogue["owner"], dialogue["effect"]) == (expected["owner"], expected["score_effect"])
        else:
            assert (dialogue["owner"], dialogue["effect"]) == (LABELS[label].owner, LABELS[label].effect)
        if turn_labels := per_turn(name):
            assert [turn["label"] for turn in turns] == turn_labels


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", [name for name in decidable() if is_control(name)] or ["none"])
def test_a_control_stays_silent(name: str, tmp_path: Path) -> None:
    for lines in asked(name):
        for line in diagnosed(lines, tmp_path):
            assert all(label.startswith("ok.") for label in (line["label"], *line.get("also", ())))


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", decidable())
def test_a_case_without_its_request_is_never_the_models_failure(name: str, tmp_path: Path) -> None:
    for lines in asked(name):
        *turns, _ = diagnosed([{**line, "request": None} for line in lines], tmp_path)
        assert all(turn["effect"] != "model_failure" for turn in turns)


def offered(name: str, schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    tool = {"type": "function", "function": {"name": name, "parameters": schema}}
    return {"model": "m", "messages": [{"role": "user", "content": "x"}], "tools": [tool], **more}


READ = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "offset": {"type": "integer"}},
    "required": ["path"],
}
# What the exchange lacks, as the request that it belongs to.
SUPPLIED: dict[str, Any] = {
    "ARGS-03": None,
    "ARGS-04": offered("update_plan", {"type": "object", "properties": {"items": {"type": "array"}}}),
    "ARGS-06": offered("read_file", READ),
    "ARGS-13": {"max_tokens": 4096},
    "ARGS-14": offered("read_file", READ),
    "BEH-13": None,
    "FIN-07": None,
    "LEAK-07": None,
    "LEAK-13": {
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": '[Calling tool: list_dir({"path":"."})]'},
            {"role": "user", "content": "a"},
        ],
        "tools": [{"type": "function", "function": {"name": "read_file", "parameters": {}}}],
    },
    "NAME-05": None,
    "NET-13": None,
    "RSN-06": None,
    "RSN-09": None,
    "TCID-02": None,
}


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", SUPPLIED)
def test_a_case_that_lacks_something_has_its_label_once_it_is_there(name: str, tmp_path: Path) -> None:
    expected = case(name)["expected_classification"]
    for lines in asked(name, SUPPLIED[name]):
        *turns, dialogue = diagnosed(lines, tmp_path)
        found = (dialogue["label"], dialogue["owner"], dialogue["effect"])
        assert found == (expected["label"], expected["owner"], expected["score_effect"])
        if turn_labels := per_turn(name):
            assert [turn["label"] for turn in turns] == turn_labels


@pytest.mark.usefixtures("shared")
def test_calls_that_the_server_dropped_show_when_the_same_request_is_made_again(tmp_path: Path) -> None:
    request = offered("run", {})
    full = exchange(
        calling(call("run", {"cmd": "a"}), call("fetch", {}, "c2"), call("run", {"cmd": "c"}, "c3")), request
    )
    for lines in asked("NAME-07", request):
        turns, dialogue = labels([*lines, full], tmp_path)
        assert turns[0] == dialogue == "serving.unknown_tool_filtered"


@pytest.mark.usefixtures("shared")
def test_a_notice_in_place_of_a_result_makes_a_loop_of_another_kind(tmp_path: Path) -> None:
    reads, ends = (json.loads(each["body"])["choices"][0]["message"] for each in case("BEH-03")["responses"])
    work = Dialogue(["Read"])
    for result in ["the text", *["File unchanged since last read; see the earlier result."] * 5]:
        work.says(reads, result)
    work.says(ends)
    assert labels(work.lines, tmp_path)[1] == "model.loop_on_dedup_notice"


@pytest.mark.usefixtures("shared")
def test_results_that_were_blanked_before_they_are_asked_for_again_are_the_harness_s(tmp_path: Path) -> None:
    asks = json.loads(case("BEH-09")["responses"][0]["body"])["choices"][0]["message"]["tool_calls"][0]
    other = call("read_file", {"path": "a", "part": 2}, "c2")
    work = Dialogue(["read_file"])
    work.says(calling(asks), "text of part 1")
    work.says(calling(other), "text of part 2")
    work.messages[3]["content"] = "[old result removed]"
    work.says(calling(asks), "text of part 1")
    turns, dialogue = labels(work.lines, tmp_path)
    assert dialogue == "harness.context_elided"
    assert not any(label.startswith("model.") for label in turns)


@pytest.mark.usefixtures("shared")
def test_finished_work_that_is_done_again_after_a_compaction_is_seen(tmp_path: Path) -> None:
    clone = json.loads(case("BEH-10")["responses"][0]["body"])["choices"][0]["message"]["tool_calls"][0]
    work = Dialogue()
    work.says(calling(clone), "cloned")
    work.says(calling(call("run", {"cmd": "make"})), "built")
    work.messages[2:] = [{"role": "user", "content": "Summary: 1. clone 2. build 3. test"}]
    work.says(calling(clone), "cloned")
    assert labels(work.lines, tmp_path)[1] == "model.repeats_done_work_after_compaction"
