"""What is refused before anything runs, and what a run's folder says of its nodes."""

from __future__ import annotations

import json
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness_eval.cluster import joining, record
from harness_eval.cluster.fitness import here
from harness_eval.cluster.joining import joined
from harness_eval.cluster.node import Variables
from harness_eval.endpoints.config import EndpointConfig
from harness_eval.errors import ConfigError
from harness_eval.study_file import ExecutorConfig

pytestmark = pytest.mark.anyio


async def refused(**keys: str) -> str:
    with pytest.raises(ConfigError) as caught:
        async with joined(ExecutorConfig(kind="ray", **keys)):
            pass
    return str(caught.value)


async def test_without_ray_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert await refused() == "executor: ray is not installed: pip install 'harness-eval[ray]'"


@pytest.mark.ray
async def test_an_address_where_nothing_answers_is_refused_at_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        said = await refused(address=f"127.0.0.1:{free.getsockname()[1]}")
    assert "no Ray cluster answers" in said
    assert "ray start --head" in said


@pytest.mark.ray
async def test_what_listens_and_is_no_cluster_is_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "_TRY_SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        said = await refused(address=f"127.0.0.1:{silent.getsockname()[1]}")
    assert "what listens there did not answer as Ray within 1 s" in said


@pytest.mark.ray
async def test_an_address_that_is_empty_starts_no_cluster() -> None:
    assert "no Ray cluster can be joined at ''" in await refused(address="")


@pytest.mark.ray
async def test_an_address_of_ray_client_is_refused() -> None:
    assert "must be auto or the HOST:PORT" in await refused(address="ray://head:10001")


def test_an_address_needs_the_executor_ray() -> None:
    with pytest.raises(ValueError, match="an address belongs to the executor ray"):
        ExecutorConfig(kind="local", address="head:6379")


def test_another_version_or_other_code_is_named() -> None:
    mine = here()
    assert mine.other_than(mine) is None
    assert "it has harness-eval 9.9" in (replace(mine, version="9.9").other_than(mine) or "")
    assert "it has other code" in (replace(mine, code="f" * 64).other_than(mine) or "")
    assert "it has Python 2.7" in (replace(mine, python="2.7").other_than(mine) or "")


def test_variables_travel_without_being_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", "sesame-open")
    settings = EndpointConfig(name="e", model="m", base_url="http://x/v1", api_key_env="THE_KEY")
    variables = Variables.of([settings])
    assert variables.values == {"THE_KEY": "sesame-open"}
    assert "sesame" not in f"{variables!r} {variables}"


def test_a_report_says_how_many_nodes_there_were(tmp_path: Path) -> None:
    assert record.told(tmp_path) == []
    record.note(tmp_path, {"executor": "ray", "nodes": 3, "lost": 0})
    assert record.told(tmp_path) == ["Trials were played on a Ray cluster, at most on 3 nodes."]
    record.note(tmp_path, {"executor": "ray", "nodes": 2, "lost": 1})
    assert "3 nodes, 1 of which was lost and" in record.told(tmp_path)[0]
    (tmp_path / record.FILE).write_text(json.dumps([{"nodes": "many"}]))
    assert record.told(tmp_path) == []
