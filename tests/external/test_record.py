"""From exchanges to a record: steps, what stands beside them, and what each request showed."""

from __future__ import annotations

import json
from dataclasses import replace

from harness_eval.external.conversations import sorted_out
from harness_eval.external.facts import Facts, facts_of
from harness_eval.external.record import Recorded, recorded
from harness_eval.gateway.exchange import Exchange
from harness_eval.gateway.wires import Asked
from harness_eval.types import Compaction, Json, Message, Note, RawCall, Reply, Request, Step, Usage

TASK = "Count the lines of log.txt."
SYSTEM: Message = {"role": "system", "content": "You work with a shell."}
USER: Message = {"role": "user", "content": TASK}
SUMMARY = "The file log.txt has been found, and its lines are still to be counted."


def tool(name: str) -> dict[str, Json]:
    parameters = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
    return {"type": "function", "function": {"name": name, "description": "", "parameters": parameters}}


def call(number: int, command: str = "ls") -> RawCall:
    return RawCall(f"call-{number}", "bash", json.dumps({"command": f"{command} {number}"}))


def calling(*numbers: int, thinking: str | None = None) -> Reply:
    calls = tuple(map(call, numbers))
    return Reply("", thinking, calls, "tool_calls", Usage(10, 1))


def said(text: str) -> Reply:
    return Reply(text, finish_reason="stop", usage=Usage(10, 1))


def as_text(reply: Reply) -> Message:
    return {"role": "assistant", "content": f"{reply.text} Calls: {[each.id for each in reply.calls]}"}


def echoed(reply: Reply, **more: Json) -> Message:
    calls = [
        {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}} for c in reply.calls
    ]
    return {"role": "assistant", "content": reply.text, **({"tool_calls": calls} if calls else {}), **more}


def result(number: int, text: str = "") -> Message:
    return {"role": "tool", "tool_call_id": f"call-{number}", "content": text or f"result {number}"}


def exchange(number: int, messages: list[Message], reply: Reply | None, tools: tuple[str, ...] = ("bash",)) -> Exchange:
    request = Request(tuple(messages), tuple(map(tool, tools)))
    return Exchange(number, "chat", Asked(request, "model", True), float(number), 0.5, 100, reply)


def read(*exchanges: Exchange) -> tuple[Recorded, Facts]:
    talk = sorted_out(exchanges, TASK)
    found = recorded(talk, TASK)
    return found, facts_of(talk, TASK, sum(isinstance(event, Compaction) for event in found.record.events))


def working(turns: int, start: int = 0, history: list[Message] | None = None) -> list[Exchange]:
    """So many turns with a call each."""
    messages = list(history or [SYSTEM, USER])
    made = []
    for number in range(start, start + turns):
        made.append(exchange(number, list(messages), calling(number)))
        messages += [echoed(calling(number)), result(number)]
    return [*made, exchange(start + turns, messages, said("There are 3."))]


def test_each_reply_is_a_step_with_what_the_next_request_shows_of_its_calls() -> None:
    found, _ = read(*working(2))
    record = found.record
    assert (record.system, record.prompt) == (SYSTEM["content"], TASK)
    assert [step.observations[0].shown for step in record.steps[:2]] == ["result 0", "result 1"]
    assert record.steps[2].action.text == "There are 3."
    assert [step.labels for step in record.steps] == [("ok.tool_call",), ("ok.tool_call",), ("ok.final_answer",)]
    assert [step.seconds for step in record.steps] == [1.0, 1.0, 0.5]
    assert found.offered == {"bash"}
    assert found.hidden == (frozenset(), frozenset(), frozenset())


def test_results_are_found_in_order_where_ids_were_made_over() -> None:
    reply = calling(0, 1)
    again = echoed(reply)
    again["tool_calls"] = [{**each, "id": f"own-{n}"} for n, each in enumerate(again["tool_calls"])]
    results = [{"role": "tool", "tool_call_id": f"own-{n}", "content": f"text {n}"} for n in range(2)]
    found, facts = read(exchange(0, [SYSTEM, USER], reply), exchange(1, [SYSTEM, USER, again, *results], said("Done.")))
    assert [each.shown for each in found.record.steps[0].observations] == ["text 0", "text 1"]
    assert (facts.results.most_calls, facts.results.together) == (2, True)


def test_results_of_calls_that_cannot_be_read_come_last() -> None:
    broken = RawCall("call-8", "bash", '{"command": "ls')
    reply = replace(calling(9), calls=(broken, call(9)))
    later = [SYSTEM, USER, echoed(reply), result(8, "Error: no JSON"), result(9)]
    found, _ = read(exchange(0, [SYSTEM, USER], reply), exchange(1, later, said("Done.")))
    step = found.record.steps[0]
    assert [each.id for each in step.action.malformed] == ["call-8"]
    assert [(each.shown, each.failed) for each in step.observations] == [("result 9", False), ("Error: no JSON", True)]
    assert step.labels[0] == "undetermined.bad_args_json"


def test_a_title_and_a_helper_are_beside_the_record_and_paid_for_once() -> None:
    title = exchange(0, [{"role": "system", "content": "Find a title."}, USER], said("Lines of a log"), ())
    helper = [{"role": "system", "content": "You look for files."}, {"role": "user", "content": "Find log.txt."}]
    main = working(2, 1)
    inner = [
        exchange(7, helper, calling(20), ("read", "bash")),
        exchange(8, [*helper, echoed(calling(20)), result(20)], said("It is here."), ("read", "bash")),
    ]
    found, facts = read(title, *main, *inner)
    assert len(found.record.steps) == 3
    assert (facts.requests.main, facts.requests.beside, facts.requests.all) == (3, 3, 6)
    assert facts.requests.sides[0].startswith("Find a title.")
    assert facts.usage == Usage(60, 6)


def test_a_summary_that_the_next_request_tells_is_a_compaction() -> None:
    before = working(2)[:2]
    history = [SYSTEM, USER, echoed(calling(0)), result(0), echoed(calling(1)), result(1)]
    ask: Message = {"role": "user", "content": "Sum up."}
    summing = exchange(2, [*history, ask], said(f"<summary>\n{SUMMARY}\n</summary>"), ())
    after = working(1, 3, [SYSTEM, {"role": "user", "content": f"{TASK}\nSo far: {SUMMARY}"}])
    found, facts = read(*before, summing, *after)
    compaction = found.record.events[2]
    assert isinstance(compaction, Compaction)
    assert compaction.covers == 2
    assert SUMMARY in compaction.notes
    assert [type(event) for event in found.record.events] == [Step, Step, Compaction, Step, Step]
    assert found.hidden[2] == {0, 1}
    assert (facts.compactions, facts.requests.summaries) == (1, 1)
    assert found.record.usage == facts.usage == Usage(50, 5)


def test_turns_that_are_left_out_of_the_history_are_a_compaction_without_a_summary() -> None:
    first = working(3)[:3]
    cut = [SYSTEM, USER, echoed(calling(1)), result(1), echoed(calling(2)), result(2)]
    found, facts = read(*first, exchange(3, cut, said("There are 3.")))
    assert [type(event) for event in found.record.events] == [Step, Step, Step, Compaction, Step]
    compaction = found.record.events[3]
    assert isinstance(compaction, Compaction)
    assert (compaction.covers, compaction.notes) == (1, "")
    assert found.hidden[3] == {0}
    assert facts.compactions == 1


def test_a_result_that_is_blanked_later_is_hidden_and_no_compaction() -> None:
    first = working(2)[:2]
    blanked = [SYSTEM, USER, echoed(calling(0)), result(0, "[old result cleared]"), echoed(calling(1)), result(1)]
    found, facts = read(*first, exchange(2, blanked, said("There are 3.")))
    assert (found.hidden[2], facts.compactions) == ({0}, 0)


def test_a_result_that_never_comes_is_unknown_and_hidden() -> None:
    later = [SYSTEM, USER, echoed(calling(0)), {"role": "user", "content": "Go on."}]
    found, facts = read(exchange(0, [SYSTEM, USER], calling(0)), exchange(1, later, said("Done.")))
    assert found.record.steps[0].observations[0].shown == ""
    assert found.hidden[1] == {0}
    assert facts.results.never_shown == 1
    assert [event.text for event in found.record.events if isinstance(event, Note)] == ["Go on."]


def test_a_request_that_is_made_again_is_one_and_its_first_reply_hides_nothing() -> None:
    asked = [SYSTEM, USER]
    later = [SYSTEM, USER, echoed(calling(1)), result(1)]
    found, facts = read(exchange(0, asked, said("")), exchange(1, asked, calling(1)), exchange(2, later, said("Done.")))
    assert len(found.record.steps) == 3
    assert facts.requests.again == 1
    assert found.hidden == (frozenset(), frozenset(), frozenset())


def test_a_refused_request_is_no_step() -> None:
    first, *rest = working(1, 1)
    refused = exchange(0, [SYSTEM, USER], None)
    found, facts = read(refused, first, *rest)
    assert len(found.record.steps) == 2
    assert (facts.requests.refused, facts.requests.again) == (1, 1)


def test_a_marker_tells_how_long_a_result_was() -> None:
    later = [SYSTEM, USER, echoed(calling(0)), result(0, "abc\n[900 characters truncated]")]
    found, facts = read(exchange(0, [SYSTEM, USER], calling(0)), exchange(1, later, said("Done.")))
    observation = found.record.steps[0].observations[0]
    assert observation.full_length == len(observation.shown) + 900
    assert facts.results.shortened == 1


def test_thinking_that_comes_back_for_some_turns_only_is_partly_kept() -> None:
    one, two = calling(0, thinking="first thought"), calling(1, thinking="second thought")
    kept = echoed(two, reasoning_content="second thought")
    _, facts = read(
        exchange(0, [SYSTEM, USER], one),
        exchange(1, [SYSTEM, USER, echoed(one), result(0)], two),
        exchange(2, [SYSTEM, USER, echoed(one), result(0), kept, result(1)], said("Done.")),
    )
    thinking = facts.thinking
    assert (thinking.replies, thinking.due, thinking.kept, thinking.dropped) == (2, 3, 1, 2)
    assert (thinking.last, thinking.policy) == ((1, 0, 1), "partly")


def test_tools_and_prompt_are_told_by_size_and_hash() -> None:
    _, facts = read(*working(1))
    _, other = read(
        *(
            replace(each, asked=replace(each.asked, request=replace(each.asked.request, tools=(tool("sh"),))))
            for each in working(1)
        )
    )
    assert (facts.tools.names, facts.tools.changed) == (("bash",), False)
    assert facts.tools.bytes > 100
    assert facts.tools.hash != other.tools.hash
    assert facts.prompt.system_chars == len(SYSTEM["content"])
    assert facts.stop == "no-call"


def test_nothing_asked_is_an_empty_record() -> None:
    found, facts = read()
    assert (found.record.prompt, found.record.events, facts) == (TASK, (), Facts())


def test_calls_that_a_harness_shows_as_text_have_the_results_that_follow_and_lost_their_thinking() -> None:
    first, second = calling(1, thinking="I look."), calling(2, thinking="I look again.")
    start = [SYSTEM, USER]
    later = [*start, as_text(first), {"role": "user", "content": "Observation: two files"}]
    found, facts = read(
        exchange(1, start, first),
        exchange(2, later, second),
        exchange(3, [*later, as_text(second), {"role": "user", "content": "Observation: none"}], said("Two.")),
    )
    shown = [step.observations[0].shown for step in found.record.steps[:2]]
    assert shown == ["Observation: two files", "Observation: none"]
    assert not any(isinstance(event, Note) for event in found.record.events)
    assert (facts.thinking.due, facts.thinking.policy, facts.results.never_shown) == (3, "dropped", 0)
    assert found.hidden == (frozenset(), frozenset(), frozenset())
