"""`harness-eval plan`: the matrix and what it takes, with nothing called."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from harness_eval import store
from harness_eval.bundled import folder
from harness_eval.types import Lost, Result, TrialKey, Usage, Verdict
from tests.cli.conftest import Said

Run = Callable[..., Said]
FLAGS = ("--sandbox", "local", "--family", "demo", "--design", "smoke", "--repeats", "2")


def test_the_matrix_is_printed_with_its_size(harness_eval: Run, suite: Path) -> None:
    said = harness_eval("plan", "--suite", suite, *FLAGS)
    assert said.code == 0
    assert "canonical" in said.out
    assert "trials: 48 (3 tasks, 8 harnesses)" in said.out
    assert "price: about $0.00" in said.out
    assert "basis: assuming 15 turns a trial" in said.out


def test_the_plan_as_json_is_what_study_json_would_hold(harness_eval: Run, suite: Path) -> None:
    plan = json.loads(harness_eval("plan", "--suite", suite, *FLAGS, "--seed", "4", "--json").out)
    assert (plan["planned"], plan["seed"], plan["repeats"]) == (48, 4, 2)
    assert plan["estimate"].keys() == {"tokens", "price", "cached_price", "seconds", "basis"}


def test_nothing_is_called_and_no_key_is_needed(harness_eval: Run, suite: Path) -> None:
    endpoint = ("--base-url", "http://127.0.0.1:9/v1", "--model", "kimi-k3", "--allow-local")
    said = harness_eval("plan", "--suite", suite, *FLAGS, *endpoint)
    assert said.code == 0
    assert "http://127.0.0.1:9/v1" in said.out


def test_a_run_of_the_same_kind_tells_price_and_time(harness_eval: Run, suite: Path, tmp_path: Path) -> None:
    with store.open_run(tmp_path / "run", {"name": "s"}) as run:
        for n in range(2):
            run.append(Result(TrialKey("t", "h", "e", n), "aa", Verdict(1.0), usage=Usage(900, 100), seconds=36.0))
    study = tmp_path / "study.yaml"
    price = {"prompt": 1.0, "cached": 0.1, "completion": 10.0}
    endpoint = {"name": "e", "base_url": "http://127.0.0.1:9/v1", "model": "m", "price": price, "concurrency": 4}
    study.write_text(json.dumps({"name": "s", "endpoints": [endpoint], "allow_local": True}))
    said = harness_eval("plan", study, "--suite", suite, *FLAGS, "--like", tmp_path / "run", "--json")
    estimate = json.loads(said.out)["estimate"]
    assert estimate["tokens"] == 48 * 1000
    assert round(estimate["price"], 6) == round(48 * (900 + 1000) / 1e6, 6)
    assert estimate["cached_price"] == estimate["price"]
    assert "the 2 judged trials" in estimate["basis"]
    assert estimate["seconds"] == 48 * 36 / 4


@pytest.mark.parametrize("size", ["²", "٣", "1e3", "-1", "9" * 5000])
def test_a_size_that_is_no_plain_number_is_a_mistake_in_a_flag(harness_eval: Run, suite: Path, size: str) -> None:
    said = harness_eval("plan", "--suite", suite, "--family", "demo", "--design", f"random:{size}")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"error: --design random:{size[:5]}")
    assert "the size must be a whole number" in said.err


@pytest.mark.parametrize("lost", [None, False, True], ids=["nothing-there", "no-trial", "all-lost"])
def test_a_run_that_tells_nothing_is_refused(harness_eval: Run, suite: Path, tmp_path: Path, lost: bool | None) -> None:
    if lost is not None:
        with store.open_run(tmp_path / "like", {"name": "s"}) as run:
            if lost:
                run.append(Result(TrialKey("t", "h", "e"), "aa", failure=Lost("endpoint", "gone")))
    said = harness_eval("plan", "--suite", suite, *FLAGS, "--like", tmp_path / "like")
    assert (said.code, said.out) == (2, "")
    assert str(tmp_path / "like") in said.err


def test_the_price_is_a_range_where_the_share_of_the_cache_is_unknown(harness_eval: Run, suite: Path) -> None:
    kimi = ("--base-url", "http://127.0.0.1:9/v1", "--model", "k3", "--profile", "kimi-k3", "--allow-local")
    said = harness_eval("plan", "--suite", suite, *FLAGS, *kimi)
    low, high = re.search(r"price: about \$([\d.,]+) \(every prompt.*to \$([\d.,]+) \(none\)", said.out).groups()
    assert float(low) < float(high)


def test_what_harnesses_are_is_read_in_a_terminal_of_80_columns(
    harness_eval: Run, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    table = harness_eval("plan", "--suite", suite, *FLAGS[:4], "--design", "standard").out.partition("\n\n")[0]
    assert max(map(len, table.splitlines())) <= 80
    assert "truncation=head(cap=2500)" in table


def test_harnesses_that_are_named_are_all_there_is(harness_eval: Run, suite: Path) -> None:
    plan = json.loads(
        harness_eval("plan", "--suite", suite, "--sandbox", "local", "--harness", "pi-like", "--json").out
    )
    assert [harness["name"] for harness in plan["harnesses"]] == ["canonical", "pi-like"]


def test_every_preset_can_stand_beside_a_family(harness_eval: Run, suite: Path) -> None:
    presets = [
        word for path in sorted((folder("harnesses") / "presets").glob("*.yaml")) for word in ("--harness", path.stem)
    ]
    said = harness_eval("plan", "--suite", suite, *FLAGS, *presets)
    assert (said.code, "pairs of levels" in said.out) == (0, True)


def test_a_hunt_states_apart_what_the_predicted_configuration_takes(harness_eval: Run, suite: Path) -> None:
    said = harness_eval("plan", "--suite", suite, *FLAGS, "--allocate", "hunt")
    assert said.code == 0
    assert "the predicted worst untested configuration follows: 6 trials more" in said.out
    assert said.out.count("price: about $0.00") == 2
    plan = json.loads(harness_eval("plan", "--suite", suite, *FLAGS, "--allocate", "hunt", "--json").out)
    assert plan["predicted"]["trials"] == 6
    assert plan["predicted"]["estimate"]["tokens"] == pytest.approx(plan["estimate"]["tokens"] * 6 / 48, abs=1)
    named = ("--suite", suite, "--sandbox", "local", "--harness", "claude-code-like", "--allocate", "hunt", "--json")
    assert json.loads(harness_eval("plan", *named).out)["predicted"] is None  # no family, so no other configuration
