"""A run that would cost money states its estimate first, and wants to be agreed to or capped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness_eval.cli.paying import charging
from harness_eval.endpoints.config import EndpointConfig
from tests.cli.conftest import Said

Run = Callable[..., Said]
ALONE = ("--limit", "1", "--harness", "canonical", "--sandbox", "local", "--allow-local", "--no-probe")
NOBODY = "http://127.0.0.1:9/v1"  # the discard port: nothing listens there


def study(folder: Path, price: str) -> Path:
    path = folder / "study.yaml"
    path.write_text(
        f"endpoints:\n- name: paid\n  model: m\n  base_url: {NOBODY}\n  backoff_seconds: 0.01\n  price: {price}\n"
    )
    return path


def test_a_run_at_a_provider_is_refused_with_its_estimate(harness_eval: Run, tmp_path: Path) -> None:
    place = ("--base-url", "https://api.example.com/v1", "--model", "kimi-k3", "--profile", "kimi-k3")
    said = harness_eval("run", *place, *ALONE, "--out", tmp_path / "run")
    assert said.code == 2
    assert "at kimi-k3: about" in said.err
    assert "$" in said.err
    assert "--yes" in said.err
    assert "assuming" in said.err
    assert not (tmp_path / "run").exists()


def test_a_provider_without_a_known_price_is_refused_in_tokens(harness_eval: Run, tmp_path: Path) -> None:
    place = ("--base-url", "https://api.example.com/v1", "--model", "m")
    said = harness_eval("run", *place, *ALONE, "--out", tmp_path / "run")
    assert said.code == 2
    assert "a price that is not known" in said.err
    assert "million tokens" in said.err


@pytest.mark.parametrize("agreed", [("--yes",), ("--max-cost", "5"), ("--max-tokens", "100000")])
def test_agreement_or_a_cap_lets_it_begin(harness_eval: Run, tmp_path: Path, agreed: tuple[str, ...]) -> None:
    path = study(tmp_path, "{prompt: 3, cached: 0.3, completion: 15}")
    said = harness_eval("run", path, *ALONE, *agreed, "--out", tmp_path / "run")
    assert said.code == 3  # nothing listens there
    assert "paid for: 1 trial at paid: about" in said.err


def test_a_price_of_nothing_needs_no_agreement(harness_eval: Run, tmp_path: Path) -> None:
    free = study(tmp_path, "{prompt: 0, cached: 0, completion: 0}")
    said = harness_eval("run", free, *ALONE, "--out", tmp_path / "run")
    assert said.code == 3
    assert "paid for" not in said.err


@pytest.mark.parametrize(
    ("base_url", "pays"),
    [
        ("http://localhost:8000/v1", False),
        ("http://10.1.2.3:8000/v1", False),
        ("http://vllm:8000/v1", False),
        ("http://[::1]:8000/v1", False),
        ("http://gpu.cluster.internal/v1", False),
        ("https://api.example.com/v1", True),
        ("http://8.8.8.8/v1", True),
        ("http://134744072/v1", True),
        ("http://0x08080808/v1", True),
    ],
)
def test_only_servers_elsewhere_are_taken_to_charge_where_no_price_is_known(base_url: str, pays: bool) -> None:
    assert bool(charging([EndpointConfig(name="e", model="m", base_url=base_url)])) is pays


def test_a_server_elsewhere_charges_even_where_it_is_said_to_be_scripted() -> None:
    public, own = "https://api.example.com/v1", "http://127.0.0.1:9/v1"
    made = [EndpointConfig(name=url, model="m", base_url=url, scripted=True) for url in (public, own)]
    assert charging(made) == [public]


@pytest.mark.parametrize("cap", [("--max-cost", "inf"), ("--max-cost", "1e12"), ("--max-tokens", "9" * 15)])
def test_what_caps_nothing_is_no_cap(harness_eval: Run, tmp_path: Path, cap: tuple[str, str]) -> None:
    place = ("--base-url", "https://api.example.com/v1", "--model", "kimi-k3", "--profile", "kimi-k3")
    said = harness_eval("run", *place, *ALONE, *cap, "--out", tmp_path / "run")
    assert (said.code, "budgets." in said.err) == (2, True)


def test_a_provider_named_to_litellm_alone_is_taken_to_charge() -> None:
    assert charging([EndpointConfig(name="e", model="bedrock/moonshotai.kimi-k3", kind="litellm")])
