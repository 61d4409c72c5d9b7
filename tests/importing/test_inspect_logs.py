"""Logs of Inspect AI: samples times epochs become trials, whichever way a log is packed."""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import zstandard

from harness_eval import store
from harness_eval.errors import ConfigError
from harness_eval.importing import Wishes, import_run
from harness_eval.types import TrialKey

Json = dict[str, Any]


def header(solver: str = "react", **changes: Any) -> Json:
    spec = {
        "task": "sums",
        "task_id": changes.pop("task_id", solver),
        "created": "2026-01-01",
        "model": "lab/m",
        "solver": None,
        "dataset": {"samples": 2},
        "scorers": [{"name": "match"}, {"name": "part"}],
        **changes,
    }
    plan = {"steps": [{"solver": solver, "params_passed": {"attempts": changes.get("attempts", 1)}}]}
    return {"version": 2, "status": "success", "eval": spec, "plan": plan, "metadata": changes.get("metadata")}


def sample(number: int, value: Any = "C", **changes: Any) -> Json:
    scores = {} if value is None else {"match": {"value": value}, "part": {"value": {"exact": 0.5, "near": 1.0}}}
    return {
        "id": number,
        "epoch": 1,
        "messages": [],
        "scores": scores,
        "model_usage": {"lab/m": {"input_tokens": 7, "output_tokens": 3, "reasoning_tokens": 1}},
        "total_time": 1.5,
        **changes,
    }


def write_log(path: Path, head: Json, samples: list[Json], method: str = "zstd") -> Path:
    members = {"header.json": head} | {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in samples}
    if method == "json":
        path.write_text(json.dumps(head | {"samples": samples}))
        return path
    kind = zipfile.ZIP_DEFLATED if method == "deflate" else zipfile.ZIP_STORED
    texts = {name: json.dumps(value).encode() for name, value in members.items()}
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name, text in texts.items():
            archive.writestr(name, zstandard.compress(text) if method == "zstd" else text)
    if method == "zstd":
        _call_it_zstd(path, texts)
    return path


def _call_it_zstd(path: Path, texts: Mapping[str, bytes]) -> None:
    """Say in both headers of each member that it is compressed with zstd, which Python's zipfile cannot write."""
    data = bytearray(path.read_bytes())
    for name, text in texts.items():
        for signature, offset, size in ((b"PK\x03\x04", 30, 22), (b"PK\x01\x02", 46, 24)):
            place = data.index(signature)
            while data[place + offset : place + offset + len(name)] != name.encode():
                place = data.index(signature, place + 4)
            struct.pack_into("<H", data, place + (8 if offset == 30 else 10), 93)
            struct.pack_into("<I", data, place + size, len(text))
    path.write_bytes(data)


def rows_of(source: Path, **wishes: Any) -> list[Json]:
    folder = source.parent / "run"
    import_run([source], folder, Wishes(**wishes))
    return list(store.rows(folder))


def verdicts(rows: list[Json]) -> dict[str, Any]:
    return {row["task"]: row["score"] for row in rows}


@pytest.mark.parametrize("method", ["zstd", "deflate", "stored", "json"])
def test_samples_become_trials_however_a_log_is_packed(method: str, tmp_path: Path) -> None:
    path = tmp_path / ("log.json" if method == "json" else "log.eval")
    rows = rows_of(write_log(path, header(), [sample(1), sample(2, "I"), sample(2, "C", epoch=2)], method))
    assert [(row["task"], row["harness"], row["endpoint"], row["score"]) for row in rows] == [
        ("sums:1", "react", "lab/m", 1.0),
        ("sums:2", "react", "lab/m", 0.0),
        ("sums:2", "react", "lab/m", 1.0),
    ]
    assert rows[0]["usage"] == {"prompt": 7, "completion": 3, "reasoning": 1, "cached": 0}


@pytest.mark.parametrize(
    ("value", "score"),
    [
        ("C", 1.0),
        ("I", 0.0),
        ("P", 0.5),
        ("N", 0.0),
        (True, 1.0),
        (False, 0.0),
        (0.25, 0.25),
        ("0.5", 0.5),
        ("yes", 1.0),
    ],
)
def test_what_scorers_write_is_a_score(value: Any, score: float, tmp_path: Path) -> None:
    assert verdicts(rows_of(write_log(tmp_path / "log.eval", header(), [sample(1, value)]))) == {"sums:1": score}


def test_another_scorer_and_a_key_of_it_can_be_chosen(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log.eval", header(), [sample(1, "I")])
    assert verdicts(rows_of(path, scorer="part.exact")) == {"sums:1": 0.5}


@pytest.mark.parametrize(
    ("value", "scorer", "message"),
    [
        (7, None, "log.eval: sample '1', epoch 1: scorer match: '7' is not in 0..1"),
        ("good", None, "scorer match: 'good' is no score"),
        ("C", "mach", "scorer 'mach': no such score; did you mean 'match'?"),
        ("C", "part", "say --scorer part.KEY; choices: exact, near"),
    ],
)
def test_what_is_no_score_is_refused_with_its_sample(
    value: Any, scorer: str | None, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        rows_of(write_log(tmp_path / "log.eval", header(), [sample(1, value)]), scorer=scorer)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("trace", "owner"),
    [
        ("inspect_ai/model/_model.py, in generate\n openai/_client.py", "endpoint"),
        ("inspect_ai/model/_call_tools.py\n inspect_ai/util/_sandbox/docker/docker.py", "sandbox"),
        ("inspect_ai/scorer/_match.py", "task"),
        ("agents/mine.py", "harness"),
    ],
)
def test_an_error_is_lost_to_the_deepest_place_in_its_traceback(trace: str, owner: str, tmp_path: Path) -> None:
    error = {"message": "it broke", "traceback": trace}
    (row,) = rows_of(write_log(tmp_path / "log.eval", header(), [sample(1, None, error=error)]))
    assert (row["score"], row["failure"]["owner"], row["failure"]["message"]) == (None, owner, "it broke")


def test_a_limit_is_a_result_and_no_failure(tmp_path: Path) -> None:
    limits = [sample(number, None, limit={"type": kind}) for number, kind in enumerate(("token", "time", "message"))]
    rows = rows_of(write_log(tmp_path / "log.eval", header(), limits))
    assert [(row["score"], row["failure"], row["stop"]) for row in rows] == [
        (0.0, None, "tokens"),
        (0.0, None, "time"),
        (0.0, None, "steps"),
    ]


def test_logs_of_several_agents_are_one_matrix_and_differ_in_what_they_were_given(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for name, head in {
        "a": header(task_id="1", attempts=1),
        "b": header(task_id="2", attempts=3),
        "c": header("generate", task_id="3"),
        "d": header("generate", task_id="4", metadata={"harness": "ours"}),
    }.items():
        write_log(logs / f"{name}.eval", head, [sample(1), sample(2)])
    rows = rows_of(logs)
    assert sorted({row["harness"] for row in rows}) == ["generate", "ours", "react(attempts=1)", "react(attempts=3)"]
    assert len(rows) == 8


def test_of_a_log_and_its_retry_the_later_sample_counts(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    write_log(logs / "a.eval", header(created="2026-01-01"), [sample(1, "I"), sample(2, None, error={"message": "x"})])
    write_log(logs / "b.eval", header(created="2026-01-02"), [sample(2, "C")])
    assert verdicts(rows_of(logs)) == {"sums:1": 0.0, "sums:2": 1.0}


def test_a_log_that_did_not_end_well_is_told(tmp_path: Path) -> None:
    rows_of(write_log(tmp_path / "log.eval", header() | {"status": "error"}, [sample(1)]))
    notes = store.read_study(tmp_path / "run")["notes"]
    assert "log.eval ended with status error; 1 sample of it counted" in notes


def test_messages_become_a_trajectory(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "attachment://abc"},
        {
            "role": "assistant",
            "content": [{"type": "reasoning", "reasoning": "I add."}, {"type": "text", "text": "Adding."}],
            "tool_calls": [
                {"id": "1", "function": "add", "arguments": {"a": 1}},
                {"id": "2", "function": "add", "arguments": {}, "parse_error": "no JSON"},
            ],
        },
        {"role": "tool", "tool_call_id": "2", "content": "", "error": {"message": "cannot be read"}},
        {"role": "tool", "tool_call_id": "1", "content": "2"},
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": "2"},
    ]
    one = sample(1, messages=messages, attachments={"abc": "One plus one?"})
    (row,) = rows_of(write_log(tmp_path / "log.eval", header(), [one]))
    record = store.read_trajectory(tmp_path / "run", TrialKey("sums:1", "react", "lab/m", 0))
    assert record is not None
    assert (row["steps"], record.system, record.prompt) == (2, "Be short.", "One plus one?")
    first = record.steps[0]
    assert (first.action.thinking, first.action.text, first.action.calls[0].arguments) == (
        "I add.",
        "Adding.",
        {"a": 1},
    )
    assert [(each.shown, each.failed) for each in first.observations] == [("2", False), ("cannot be read", True)]
    assert [type(event).__name__ for event in record.events] == ["Step", "Note", "Step"]


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 nothing", b"no zip"])
def test_a_damaged_log_is_named(damage: bytes, tmp_path: Path) -> None:
    (tmp_path / "log.eval").write_bytes(damage)
    with pytest.raises(ConfigError, match=r"log\.eval: is damaged, or no log of Inspect"):
        rows_of(tmp_path / "log.eval")


def test_a_torn_member_is_named(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log.eval", header(), [sample(1)])
    data = path.read_bytes()
    path.write_bytes(data[:60] + b"\x00" * 40 + data[100:])
    with pytest.raises(ConfigError, match=r"log\.eval: is damaged"):
        rows_of(path)


@pytest.mark.parametrize("wrong", [True, "x", "\ud800", [None], {"a": 1}, 1e400, -1, 10**30], ids=repr)
@pytest.mark.parametrize(
    "place",
    [
        ("samples",),
        ("plan", "steps"),
        ("eval", "scorers"),
        ("eval", "dataset", "samples"),
        ("samples", 0, "epoch"),
        ("samples", 0, "messages"),
        ("samples", 0, "messages", 0, "tool_calls"),
        ("samples", 0, "model_usage", "lab/m", "input_tokens"),
        ("samples", 0, "total_time"),
    ],
    ids=lambda place: ".".join(map(str, place)),
)
def test_a_value_of_another_shape_is_unknown_or_named(place: tuple[Any, ...], wrong: Any, tmp_path: Path) -> None:
    log = header() | {"samples": [sample(1, messages=[{"role": "assistant", "content": "done"}])]}
    part: Any = log
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = wrong
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    try:
        found = [(row["usage"]["prompt"], row["seconds"]) for row in rows_of(path)]
    except ConfigError as error:
        found = [str(error).partition(": ")[0]]
    assert found[0] in ((7, 1.5), (0, 1.5), (7, 0.0), "log.json")


def test_a_log_of_a_format_that_there_is_not_is_damaged(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log.eval", header(), [sample(1)], "stored")
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 6] = 200
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=r"log\.eval: is damaged, or no log of Inspect"):
        rows_of(path)


def test_a_log_that_says_it_unpacks_to_too_much_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header()))
        archive.writestr("samples/1_epoch_1.json", "{}")
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.rindex(b"PK\x01\x02") + 24, 2**31)
    path.write_bytes(data)
    with pytest.raises(ConfigError, match="says it has 2,147,483,648 bytes; at most"):
        rows_of(path)
