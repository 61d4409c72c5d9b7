"""What a recorded dialogue is: turns in the light of the others, and the one finding for the whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.diagnosis.logs import Dialogue, call, calling, diagnosed, exchange, labels, refusal

LS = call("run", {"cmd": "ls"})
DONE = {"content": "Done."}
RATE = {"error": {"message": "slow down", "type": "rate_limit_error"}}


def ids(*turns: list[str]) -> list[dict[str, Any]]:
    return [
        exchange(calling(*(call("run", {"n": n, "id": each}, each) for each in ids))) for n, ids in enumerate(turns)
    ]


# Ids over turns


@pytest.mark.parametrize(
    ("turns", "label"),
    [
        ([["run:0"], ["run:0"], ["run:0"]], "ok.id_reused_across_turns"),
        ([["functions.run:0", "functions.run:1"], ["functions.run:0"]], "ok.id_reused_across_turns"),
        ([["call_0", "call_1"], ["call_0", "call_1"]], "ok.id_reused_across_turns"),
        ([["run_0"], ["run_0"]], "ok.id_reused_across_turns"),
        ([["toolu_fixed"], ["toolu_fixed"], ["toolu_fixed"]], "ok.id_constant"),
        ([["a1"], ["a2"], ["a3"]], "ok.tool_call"),
        ([["functions.run:0"], ["functions.run:1"]], "ok.tool_call"),
    ],
)
def test_ids_are_seen_over_all_turns(turns: list[list[str]], label: str, tmp_path: Path) -> None:
    found, dialogue = labels(ids(*turns), tmp_path)
    assert set(found) == {label}
    assert dialogue == label


def test_a_turn_that_is_more_than_plain_has_its_ids_noted_beside(tmp_path: Path) -> None:
    lines = [exchange(calling(LS, reasoning="x")), exchange(calling(LS, reasoning="y"))]
    first = diagnosed(lines, tmp_path)[0]
    assert (first["label"], first["also"]) == ("ok.reasoning_field_alias", ["ok.id_constant"])


# The dialogue's finding


def test_the_last_plain_turn_stands_for_a_plain_dialogue(tmp_path: Path) -> None:
    work = Dialogue()
    work.says(calling(LS), "a.txt")
    work.says(DONE)
    assert labels(work.lines, tmp_path) == (["ok.tool_call", "ok.final_answer"], "ok.final_answer")


def test_a_refused_configuration_outranks_an_earlier_mistake(tmp_path: Path) -> None:
    lines = [
        exchange(calling(call("run", '{"cmd": "a",b"}'))),
        refusal(400, {"error": {"message": "invalid temperature: only 1 is allowed for this model"}}),
    ]
    assert labels(lines, tmp_path)[1] == "harness.param_rejected"


def test_a_mistake_outranks_what_was_borne(tmp_path: Path) -> None:
    lines = [exchange(calling(LS, reasoning="x")), exchange(calling(call("run", "{'a': 1}", "c2")))]
    assert labels(lines, tmp_path)[1] == "model.bad_args_json"


def test_the_first_turn_that_decides_decides(tmp_path: Path) -> None:
    lines = [exchange({"content": ""}), exchange({"content": "", "reasoning_content": "Hm."}), exchange(DONE)]
    *_, dialogue = diagnosed(lines, tmp_path)
    assert dialogue["label"] == "undetermined.empty_turn"
    assert dialogue["evidence"].startswith("turn 0: ")
    assert dialogue["also"] == ["undetermined.thought_only"]


def test_a_failure_after_which_the_dialogue_went_on_decides_only_where_nothing_else_does(tmp_path: Path) -> None:
    assert labels([refusal(429, RATE), exchange(DONE)], tmp_path)[1] == "infra.rate_limited"
    lines = [refusal(429, RATE), exchange({"content": ""}), exchange(DONE)]
    assert labels(lines, tmp_path)[1] == "undetermined.empty_turn"


# Failures in the light of what came before


@pytest.mark.parametrize(
    "message",
    [
        "Expecting ',' delimiter: line 1 column 9 (char 8)",
        "Unterminated string starting at: line 1 column 20 (char 19)",
        "could not parse tool arguments as JSON",
        "Bad input: failed decoding the request",
    ],
)
def test_a_broken_call_that_is_refused_for_ever_is_the_harness_s(message: str, tmp_path: Path) -> None:
    lines = [exchange(calling(call("run", '{"cmd": "a"')))] + [refusal(400, {"error": {"message": message}})] * 2
    found, _ = labels(lines, tmp_path)
    assert found == ["undetermined.bad_args_json", "harness.history_poisoned", "harness.history_poisoned"]


def test_failures_in_a_row_after_the_same_time_are_a_deadline(tmp_path: Path) -> None:
    cut = [refusal(502, "<html>Bad Gateway</html>", seconds=seconds) for seconds in (60.0, 60.1, 59.9)]
    found, dialogue = labels([*cut, exchange(DONE)], tmp_path)
    assert found == ["infra.deadline"] * 3 + ["ok.final_answer"]
    assert dialogue == "infra.deadline"


@pytest.mark.parametrize("seconds", [(60.0, 12.0, 31.0), (0.1, 0.1, 0.1), (None, None, None), (60.0, 60.0)])
def test_failures_after_other_times_are_none(seconds: tuple[float | None, ...], tmp_path: Path) -> None:
    found, _ = labels([refusal(502, "<html>Bad Gateway</html>", seconds=each) for each in seconds], tmp_path)
    assert set(found) == {"infra.gateway"}


def test_replies_to_one_request_that_differ_by_known_tools_are_only_other_draws(tmp_path: Path) -> None:
    work = Dialogue()
    lines = [
        exchange(calling(LS), work.request()),
        exchange(calling(LS, call("read", {"path": "a"}, "c2")), work.request()),
    ]
    assert "serving.unknown_tool_filtered" not in labels(lines, tmp_path)[0]


# Behaviour


def test_identical_calls_with_unchanged_results_are_a_loop(tmp_path: Path) -> None:
    work = Dialogue()
    for _ in range(6):
        work.says(calling(LS), "a.txt")
    *_, dialogue = diagnosed(work.lines, tmp_path)
    assert (dialogue["label"], dialogue["effect"]) == ("model.loop_identical_calls", "model_failure")


def test_identical_calls_whose_results_change_are_none(tmp_path: Path) -> None:
    work = Dialogue()
    for number in range(8):
        work.says(calling(LS), f"{number} files")
    assert labels(work.lines, tmp_path)[1] == "ok.id_constant"


def test_a_failed_attempt_does_not_break_a_loop_and_turns_keep_their_numbers(tmp_path: Path) -> None:
    work = Dialogue()
    work.says(calling(call("read", {"path": "a"}, "r")), "x")
    for _ in range(3):
        work.says(calling(LS), "a.txt")
    work.fails(429, RATE)
    for _ in range(3):
        work.says(calling(LS), "a.txt")
    *_, dialogue = diagnosed(work.lines, tmp_path)
    assert dialogue["label"] == "model.loop_identical_calls"
    assert "infra.rate_limited" in dialogue["also"]


def test_plans_that_go_back_and_forth_are_churn(tmp_path: Path) -> None:
    plans = [call("update_plan", {"items": [wording]}) for wording in ("Auto-update check", "Auto-Update Check")]
    assert labels([exchange(calling(plan)) for plan in plans * 2], tmp_path)[1] == "model.planning_churn"


def test_calls_after_the_tools_were_taken_away_do_not_heed_the_end(tmp_path: Path) -> None:
    work = Dialogue()
    work.says(calling(LS), "a.txt")
    work.is_told("The step limit is reached. Sum up.")
    work.tools = []
    work.says(calling(LS), None)
    assert labels(work.lines, tmp_path) == (["ok.id_constant", "model.ignores_stop"], "model.ignores_stop")


@pytest.mark.parametrize("tools", [None, []])
def test_tools_that_were_taken_away_are_so_by_null_as_well(tools: Any, tmp_path: Path) -> None:
    work = Dialogue()
    work.says(calling(LS), "a.txt")
    lines = [*work.lines, exchange(calling(call("run", {"cmd": "x"}, "c2")), {**work.request(), "tools": tools})]
    assert labels(lines, tmp_path)[1] == "model.ignores_stop"
    never = [{**line, "request": {**line["request"], "tools": tools}} for line in lines]
    assert labels(never, tmp_path)[1] == "ok.tool_call"


# What the harness does to the history


def test_results_that_come_as_messages_of_the_user_were_not_dropped(tmp_path: Path) -> None:
    work = Dialogue()
    for number in range(4):
        work.lines.append(exchange(calling(call("run", {"n": number}, f"c{number}")), work.request()))
        work.messages += [{"role": "assistant", "content": "I call."}, {"role": "user", "content": f"done {number}"}]
    assert labels(work.lines, tmp_path)[1] == "ok.tool_call"


def test_several_answers_to_one_request_dropped_nothing(tmp_path: Path) -> None:
    work = Dialogue()
    lines = [exchange(calling(call("run", {"n": 1}, f"c{number}")), work.request()) for number in range(3)]
    work.is_told("Another thing.")
    assert labels([*lines, exchange(DONE, work.request())], tmp_path)[1] == "ok.final_answer"


@pytest.mark.parametrize(
    ("status", "label"),
    [(100, "infra.gateway"), (204, "infra.gateway"), (302, "infra.address_unknown"), (308, "infra.address_unknown")],
)
def test_a_status_that_brings_no_reply_is_no_success(status: int, label: str, tmp_path: Path) -> None:
    assert labels([refusal(status, "")], tmp_path)[1] == label


def test_a_result_that_is_never_shown_is_the_harness_s(tmp_path: Path) -> None:
    work = Dialogue()
    work.says(calling(call("run", {"cmd": "a"}, "run:0")), "first")
    work.says(calling(call("run", {"cmd": "b"}, "run:0")), None)
    work.says({"content": "Now I will open the config."})
    assert labels(work.lines, tmp_path)[1] == "harness.result_dropped"


def test_results_under_ids_that_the_harness_made_over_are_still_shown(tmp_path: Path) -> None:
    work = Dialogue()
    for number in range(3):
        work.says(calling(call("run", {"n": number}, "x")), f"result {number}")
        work.messages[-2]["tool_calls"][0]["id"] = work.messages[-1]["tool_call_id"] = f"own_{number}"
    work.says(DONE)
    assert labels(work.lines, tmp_path)[1] == "ok.id_constant"


def test_a_call_that_comes_back_as_one_of_another_tool_was_rewritten(tmp_path: Path) -> None:
    work = Dialogue()
    work.says(calling(call("frobnicate", {})), "no such tool")
    work.messages[-2]["tool_calls"][0]["function"]["name"] = "invalid"
    work.says(DONE)
    *_, dialogue = diagnosed(work.lines, tmp_path)
    assert dialogue["label"] == "harness.history_rewrites_name"
    assert "'frobnicate' became 'invalid'" in dialogue["evidence"]


def test_a_name_that_was_only_mended_was_not_rewritten(tmp_path: Path) -> None:
    work = Dialogue()
    work.says(calling(call("RUN", {})), "ok")
    work.messages[-2]["tool_calls"][0]["function"]["name"] = "run"
    work.says(DONE)
    assert labels(work.lines, tmp_path)[1] == "model.tool_name_case"


def test_looking_again_at_what_a_compaction_took_away_is_no_fault(tmp_path: Path) -> None:
    work = Dialogue()
    work.says(calling(call("read", {"path": "a"})), "the text")
    work.says(calling(call("read", {"path": "b"}, "c2")), "more")
    work.messages[2:] = [{"role": "user", "content": "Summary: a and b were read."}]
    work.says(calling(call("read", {"path": "a"}, "c3")), "the text")
    work.says(DONE)
    _, dialogue = labels(work.lines, tmp_path)
    assert dialogue in ("ok.final_answer", "harness.context_elided")
    assert not dialogue.startswith("model.")


def test_a_window_that_slides_makes_no_loop_of_reading_again(tmp_path: Path) -> None:
    work = Dialogue()
    for _ in range(6):
        work.says(calling(LS), "a.txt")
        work.messages = [*work.messages[:2], {"role": "user", "content": "Earlier turns are left out."}]
    assert labels(work.lines, tmp_path)[1] != "model.loop_identical_calls"
