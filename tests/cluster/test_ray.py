"""Runs over a real Ray cluster of several nodes on this machine; one of them is killed in the middle."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from harness_eval import store, study
from harness_eval.cluster import spreading
from harness_eval.cluster.fitness import here
from harness_eval.cluster.joining import joined, ray_module
from harness_eval.cluster.limits import Limits, SharedLimit
from harness_eval.endpoints.retries import Transient
from harness_eval.errors import ConfigError
from harness_eval.planning import resolve
from harness_eval.study_file import ExecutorConfig, load_study
from harness_eval.types import Result
from tests.doubles import make_task

pytestmark = pytest.mark.ray

_QUICK = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 200,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 3,
}
_NODE = {"num_cpus": 1, "object_store_memory": 80 << 20}


@dataclass
class Machines:
    """A cluster whose nodes keep their boxes in `boxes`; its head plays no trials."""

    cluster: Any
    folder: Path
    nodes: list[Any] = field(default_factory=list)

    @property
    def boxes(self) -> Path:
        return self.folder / "boxes"

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def add(self) -> None:
        self.nodes.append(self.cluster.add_node(**_NODE))

    def kill(self) -> None:
        self.cluster.remove_node(self.nodes.pop(0), allow_graceful=False)

    def left(self) -> list[str]:
        return sorted(path.name for path in self.boxes.glob("harness-eval-*"))


@pytest.fixture
def machines(cluster: Machines, monkeypatch: pytest.MonkeyPatch) -> Machines:
    """The cluster with two nodes, whatever the test before has left of them."""
    _keep_in(cluster.folder, monkeypatch)
    while len(cluster.nodes) < 2:
        cluster.add()
    return cluster


def _keep_in(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Nodes that are started from now on have their boxes and their sockets in a folder."""
    patch.setenv("TMPDIR", str(folder / "boxes"))
    patch.setenv("RAY_TMPDIR", str(folder))


@pytest.fixture(scope="session")  # where a worker is given these tests in pieces, a module's end would end it
def cluster() -> Iterator[Machines]:
    ray_module()
    from ray.cluster_utils import Cluster

    folder = Path(tempfile.mkdtemp(prefix="ray-"))  # short, since sockets are in it
    for name in ("boxes", "ray"):
        (folder / name).mkdir()
    bare: dict[str, Any] = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
    found = Machines(Cluster(), folder)
    try:
        with pytest.MonkeyPatch.context() as patch:  # and no longer: this worker runs other tests in between
            _keep_in(folder, patch)
            found.cluster.add_node(**{**_NODE, "num_cpus": 0}, **bare, _system_config=_QUICK)
        yield found
    finally:
        found.cluster.shutdown()
    shutil.rmtree(folder)


class Watching:
    """Who watches a run; `then` says what is done once so many trials have ended."""

    def __init__(self, then: Mapping[int, Callable[[], None]] | None = None) -> None:
        self.results: list[Result] = []
        self.lines: list[str] = []
        self._then = then or {}

    def proven(self, *given: object) -> None: ...

    def probed(self, *given: object) -> None: ...

    def begin(self, *given: object) -> None: ...

    def fallen(self, endpoint: str, reason: str) -> None: ...

    def nodes(self, line: str) -> None:
        self.lines.append(line)

    def ended(self, result: Result) -> None:
        self.results.append(result)
        if (then := self._then.get(len(self.results))) is not None:
            then()  # on the main thread, as Ray wants it

    def stopping(self) -> None: ...


def study_file(folder: Path, **keys: object) -> Path:
    """Two tasks and two harnesses, of which the one that drops reasoning solves nothing."""
    for name in ("alpha", "beta"):
        make_task(folder / "suite", name)
    (folder / "dropping.yaml").write_text("thinking: drop")
    given = {"name": "s", "reference": {"couplings": {"needs-thinking": 1.0}}, "tasks": {"suite": "./suite"}, **keys}
    path = folder / "study.yaml"
    path.write_text(json.dumps({"harnesses": ["./dropping.yaml"], "sandbox": "local", "probe": False, **given}))
    return path


def executed(path: Path, folder: Path, watch: Watching, executor: dict[str, str] | None = None) -> study.Ended:
    resolved = resolve(load_study(path, {"executor": executor} if executor else None))
    return anyio.run(study.run, resolved, folder, watch)


def verdicts(folder: Path) -> dict[object, object]:
    found = [(store.key_of(row), row["score"]) for row in store.rows(folder)]
    assert len(found) == len(dict(found)), "a trial is there twice"
    return dict(found)


def on(machines: Machines) -> dict[str, str]:
    return {"kind": "ray", "address": machines.address}


def test_a_node_that_is_lost_takes_nothing_with_it_and_one_that_comes_is_used(
    machines: Machines, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def exchange() -> None:  # for a moment there is none at all, so the new ones play the rest
        machines.kill()
        machines.add()
        machines.add()

    path = study_file(tmp_path, repeats=3)
    alone = executed(path, tmp_path / "alone", Watching())
    watch = Watching({3: machines.kill, 6: exchange})
    spread = executed(path, tmp_path / "spread", watch, on(machines))
    assert (spread.exit_code, spread.lost, spread.judged) == (0, {}, alone.judged)
    assert verdicts(tmp_path / "spread") == verdicts(tmp_path / "alone")
    assert watch.lines[0] == "nodes: 2, all on this machine"
    told = "\n".join(watch.lines)
    assert "is lost; its trials are played elsewhere; nodes: 1" in told
    assert "has joined; nodes: 1" in told
    assert told.count("trials played") >= 1
    written = (tmp_path / "spread/executor.json").read_text()
    assert json.loads(written) == [{"executor": "ray", "nodes": 2, "lost": 2}]
    assert capfd.readouterr().out == ""  # results belong there, and Ray would tell of what was lost


def test_a_key_reaches_the_nodes_and_stays_out_of_every_file(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "open-sesame-7f3a9b2c41"
    monkeypatch.setenv("CLUSTER_KEY", secret)
    with Keyed(secret) as server:
        endpoint = {"name": "keyed", "model": "m", "base_url": server.base_url, "api_key_env": "CLUSTER_KEY"}
        path = study_file(tmp_path, reference=None, endpoints=[endpoint], harnesses=[], allow_local=True)
        watch = Watching()
        ended = executed(path, tmp_path / "run", watch, on(machines))
    assert server.asked >= 2
    assert server.foreign == 0
    assert ended.judged == 0  # the server says no in words that repeat the key
    places = [machines.folder, tmp_path / "run"]
    files = [file for place in places for file in place.rglob("*") if file.is_file() and not file.is_symlink()]
    assert not [str(file) for file in files if secret.encode() in file.read_bytes()]
    assert secret not in " ".join(map(str, [*watch.results, *watch.lines, *ended.problems]))


def test_two_nodes_ask_for_no_more_at_once_than_one_would_and_slow_down_together(machines: Machines) -> None:
    async def asked() -> tuple[int, float, int]:
        async with joined(ExecutorConfig(**on(machines))):  # type: ignore[arg-type]
            ray = ray_module()
            ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
            limits = ray.remote(Limits).options(num_cpus=0, max_concurrency=100).remote({"one": 4})
            counter = ray.remote(Counter).options(num_cpus=0, max_concurrency=100).remote()
            # A processor each, so that they are on different nodes.
            askers = [ray.remote(num_cpus=1)(Asker).remote(limits, counter, f"node {at}") for at in range(2)]
            assert len(set(await asyncio.gather(*(asker.where.remote() for asker in askers)))) == 2
            await asyncio.gather(*(asker.ask.remote(12, False) for asker in askers))
            most = await counter.most.remote()
            await askers[0].ask.remote(1, True)
            await asyncio.sleep(0.1)
            allowed = await limits.allowed.remote("one")
            await counter.reset.remote()
            await askers[1].ask.remote(2, False)
            return most, allowed, await counter.most.remote()

    most, allowed, after = anyio.run(asked)
    assert most == 4
    assert allowed == 2
    assert after <= 2


def test_a_node_with_other_code_is_refused(machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreading, "here", lambda: replace(here(), code="0" * 64))
    with pytest.raises(ConfigError, match=r"it has other code as harness-eval .* install the same everywhere"):
        executed(study_file(tmp_path), tmp_path / "run", Watching(), on(machines))


def test_two_drivers_that_end_leave_no_boxes_on_the_nodes_that_they_share(machines: Machines, tmp_path: Path) -> None:
    path, numbers = study_file(tmp_path, repeats=200), (signal.SIGINT, signal.SIGKILL)
    command = [sys.executable, "-m", "harness_eval", "run", str(path), "--executor", "ray"]
    command += ["--ray-address", machines.address, "--out"]
    with ExitStack() as stack:
        drivers = []
        for number in numbers:
            each = [*command, str(tmp_path / number.name)]
            drivers.append(stack.enter_context(subprocess.Popen(each, stderr=subprocess.DEVNULL)))
        for driver, number in zip(drivers, numbers, strict=True):
            waited_for(partial(has_results, tmp_path / number.name))
            assert machines.left()
            os.kill(driver.pid, number)
    assert [driver.returncode for driver in drivers] == [130, -signal.SIGKILL]
    waited_for(lambda: not machines.left())
    assert all(verdicts(tmp_path / number.name) for number in numbers)


def test_without_any_node_left_the_run_ends_and_is_gone_on_with(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spreading, "_DESERTED_SECONDS", 1.0)

    def kill_all() -> None:
        while machines.nodes:
            machines.kill()

    path = study_file(tmp_path, repeats=2)
    ended = executed(path, tmp_path / "run", Watching({1: kill_all}), on(machines))
    assert (ended.exit_code, ended.problems, ended.lost) == (3, ["no node of the Ray cluster is left"], {})
    assert executed(path, tmp_path / "run", Watching()).exit_code == 0
    assert len(verdicts(tmp_path / "run")) == 8


def has_results(folder: Path) -> bool:
    results = folder / store.RESULTS
    return results.is_file() and results.stat().st_size > 0


def waited_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


class Keyed:
    """A server that refuses all, repeating the key that it was sent, and counts requests with another one."""

    def __init__(self, key: str) -> None:
        self.asked = self.foreign = 0
        self._key = key

    def __enter__(self) -> Keyed:
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

        counts = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                given = self.headers.get("Authorization", "")
                counts.asked += 1
                counts.foreign += given != f"Bearer {counts._key}"
                body = json.dumps({"error": {"message": f"no, {given} will not do"}}).encode()
                self.send_response(400)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *given: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"
        return self

    def __exit__(self, *given: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Counter:
    """How many are inside at once."""

    def __init__(self) -> None:
        self._inside = self._most = 0

    async def enter(self) -> None:
        self._inside += 1
        self._most = max(self._most, self._inside)

    async def leave(self) -> None:
        self._inside -= 1

    async def most(self) -> int:
        return self._most

    async def reset(self) -> None:
        self._most = 0


class Asker:
    """A node that takes places and holds each for a moment."""

    def __init__(self, limits: Any, counter: Any, holder: str) -> None:
        self._counter, self._limit = counter, SharedLimit(limits, "one", holder)

    async def where(self) -> str:
        return str(ray_module().get_runtime_context().get_node_id())

    async def ask(self, times: int, refused: bool) -> None:
        async def once() -> None:
            async with self._limit.slot():
                await self._counter.enter.remote()
                await asyncio.sleep(0.02)
                await self._counter.leave.remote()
                if refused:
                    raise Transient("no", throttled=True)

        await asyncio.gather(*(once() for _ in range(times)), return_exceptions=True)
