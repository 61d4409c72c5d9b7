"""A harness in a box: how it ends, whose that is, and that nothing of it is left."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from signal import SIGKILL

import anyio
import pytest

from harness_eval.errors import BoundaryFailure, ConfigError, ContextOverflow, EndpointDown, EndpointFailure
from harness_eval.external import agent as running
from harness_eval.external.adapter import External
from harness_eval.external.agent import ExternalAgent, room_for
from harness_eval.external.installing import Installed
from harness_eval.external.relaying import meeting_place, require_short_paths, socket_in
from harness_eval.sandboxes import local
from harness_eval.sandboxes.base import BoxLimits, SandboxProvider
from harness_eval.trial import Trial, run_trial
from harness_eval.types import Limits, Reply, Request, Result, StopReason, TrialKey
from tests.doubles import Scripted, bash, make_task, solve
from tests.external.scripted import script_harness
from tests.sandboxes.conftest import KINDS, boxes, make, mark, processes  # noqa: F401

pytestmark = pytest.mark.anyio

LONG = Limits(seconds=60)


def thinking(request: Request) -> Reply:
    return replace(solve(request), thinking="It must be written down, and so I write it.")


async def result_of(
    folder: Path,
    external: External,
    script: Callable[[Request], Reply | Exception] = solve,
    limits: Limits = LONG,
    provider: SandboxProvider | None = None,
    name: str = "say-hello",
    instruction: str = "",
) -> Result:
    task = make_task(folder / "suite", name)
    task = replace(task, instruction=instruction or task.instruction)
    trial = Trial(TrialKey(task.name, external.name, "scripted"), external, task, limits, seed=7)
    return await run_trial(trial, Scripted(script), provider or make("local"))


def lost(result: Result) -> tuple[str, str]:
    assert result.verdict is None
    assert result.failure is not None
    return result.failure.owner, result.failure.message


def stop_of(result: Result) -> StopReason | None:
    assert result.failure is None, result.failure
    assert result.verdict is not None
    assert result.trajectory is not None
    return result.trajectory.stop


@pytest.mark.parametrize("boxes", KINDS, indirect=True)
async def test_a_command_of_ones_own_solves_a_task(tmp_path: Path, boxes: SandboxProvider) -> None:  # noqa: F811
    result = await result_of(tmp_path, script_harness(), provider=boxes)
    assert stop_of(result) is StopReason.FINISHED
    assert result.verdict is not None
    assert result.verdict.solved
    assert result.trajectory is not None
    assert [len(step.observations) for step in result.trajectory.steps] == [1, 0]
    assert result.trajectory.system == "You work with a shell."
    assert (result.usage.prompt, result.usage.completion) == (220, 15)
    assert (result.extra["harness_version"], result.extra["external"]["exit_code"]) == ("1.0", 0)


@pytest.mark.parametrize(("mode", "policy"), [("", "kept"), ("drop", "dropped"), ("move", "moved")])
async def test_the_wire_shows_what_becomes_of_thinking(tmp_path: Path, mode: str, policy: str) -> None:
    result = await result_of(tmp_path, script_harness(mode), thinking)
    assert result.extra["external"]["thinking"]["policy"] == policy


async def test_the_seed_of_the_trial_and_nothing_of_how_to_sample_reaches_the_endpoint(tmp_path: Path) -> None:
    seen: list[Request] = []

    def note(request: Request) -> Reply:
        seen.append(request)
        return solve(request)

    result = await result_of(tmp_path, script_harness(), note)
    assert [request.seed for request in seen] == [7, 7]
    assert result.extra["external"]["asked"]["settings"] == {"temperature": 0.3}


async def test_a_crash_is_the_harnesss_with_its_last_words_and_without_its_key(tmp_path: Path) -> None:
    result = await result_of(tmp_path, script_harness("crash"))
    owner, said = lost(result)
    assert owner == "harness"
    assert said.endswith("ended with exit code 1; last output: the agent has lost its way, key [key]")
    assert result.trajectory is not None
    assert len(result.trajectory.steps) == 1
    assert result.usage.prompt == 100


async def test_an_exit_code_that_is_how_a_harness_ends_is_no_failure(tmp_path: Path) -> None:
    result = await result_of(tmp_path, script_harness("code", ends_with_error=[53]))
    assert stop_of(result) is StopReason.FINISHED


async def test_a_program_that_is_not_there_is_the_harnesss(tmp_path: Path) -> None:
    owner, said = lost(await result_of(tmp_path, script_harness(command=["no-such-agent", "{prompt}"])))
    assert owner == "harness"
    assert "exit code 127" in said


async def test_an_installation_without_its_program_is_said_to_be_damaged(tmp_path: Path) -> None:
    external = script_harness(command=["no-such-agent", "{prompt}"])
    task = make_task(tmp_path / "suite", "say-hello")
    key = TrialKey(task.name, external.name, "scripted")
    trial = Trial(key, external, task, LONG, seed=7, installed=Installed(tmp_path))
    _, said = lost(await run_trial(trial, Scripted(solve), make("local")))
    assert f"what is installed in {tmp_path} may be damaged" in said


async def test_a_harness_that_never_asks_has_not_run(tmp_path: Path) -> None:
    owner, said = lost(await result_of(tmp_path, script_harness("silent")))
    assert (owner, said) == ("harness", "the harness script-silent ended without a request that could be answered")


async def test_a_harness_sees_nothing_of_this_processs_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORD_OF_THE_HOST", "hidden")
    said = lost(await result_of(tmp_path, script_harness(command=["sh", "-c", "env", "{prompt}"])))[1]
    assert "MODEL=scripted" in said
    assert "WORD_OF_THE_HOST" not in said


async def test_a_task_can_come_on_standard_input(tmp_path: Path) -> None:
    command = ["sh", "-c", 'exec python3 "{home}/agent.py" "$(cat)"']
    assert stop_of(await result_of(tmp_path, script_harness(command=command, stdin="{prompt}"))) is StopReason.FINISHED


async def test_time_that_runs_out_is_a_result_and_ends_the_harness(tmp_path: Path, mark: str) -> None:  # noqa: F811
    result = await result_of(tmp_path, script_harness("hang"), limits=Limits(seconds=1.5), name=f"task-{mark}")
    assert stop_of(result) is StopReason.TIME
    assert processes(mark) == []


async def test_a_harness_that_hangs_before_its_first_request_has_not_run(tmp_path: Path) -> None:
    command = ["sh", "-c", "sleep 600", "{prompt}"]
    owner, said = lost(await result_of(tmp_path, script_harness(command=command), limits=Limits(seconds=0.5)))
    assert owner == "harness"
    assert "asked nothing within 0.5 s" in said


async def test_a_daemon_that_a_harness_leaves_is_gone_before_the_verdict(tmp_path: Path, mark: str) -> None:  # noqa: F811
    result = await result_of(tmp_path, script_harness("daemon", seconds=mark))
    assert stop_of(result) is StopReason.FINISHED
    assert processes(mark) == []


@pytest.mark.bubblewrap
async def test_a_harness_that_outgrows_the_box_is_lost_to_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "ROOM", BoxLimits(memory_mb=-800, pids=64, disk_mb=-1000))
    owner, said = lost(await result_of(tmp_path, script_harness("hungry"), provider=make("bubblewrap")))
    assert owner == "harness"
    assert "was killed" in said or "MemoryError" in said


@pytest.mark.parametrize(
    ("limits", "reason"),
    [(Limits(steps=1, seconds=60), StopReason.STEPS), (Limits(tokens=100, seconds=60), StopReason.TOKENS)],
)
async def test_a_limit_reached_at_the_gateway_ends_the_harness(
    tmp_path: Path, limits: Limits, reason: StopReason
) -> None:
    result = await result_of(tmp_path, script_harness(), limits=limits)
    assert stop_of(result) is reason
    assert result.trajectory is not None
    assert len(result.trajectory.steps) == 1


async def test_a_context_that_overflows_is_a_result(tmp_path: Path) -> None:
    def overflow(request: Request) -> Reply | Exception:
        return ContextOverflow("too long") if len(request.messages) > 2 else solve(request)

    assert stop_of(await result_of(tmp_path, script_harness(), overflow)) is StopReason.OVERFLOW


@pytest.mark.parametrize("error", [EndpointDown("no such key"), EndpointFailure("busy")])
async def test_a_failure_of_the_endpoint_stays_the_endpoints(tmp_path: Path, error: Exception) -> None:
    result = await result_of(tmp_path, script_harness(), lambda _: error)
    assert lost(result) == ("endpoint", str(error))
    assert result.extra.get("down", False) is isinstance(error, EndpointDown)


@pytest.mark.bubblewrap
async def test_a_relay_that_a_command_of_the_model_kills_comes_back(tmp_path: Path) -> None:
    def destructive(request: Request) -> Reply:
        if any(message["role"] == "tool" for message in request.messages):
            return solve(request)
        return bash("pkill -f 'relay[.]py' && echo hello > answer.txt; sleep 1")

    result = await result_of(tmp_path, script_harness(), destructive, provider=make("bubblewrap"))
    assert stop_of(result) is StopReason.FINISHED
    assert result.verdict is not None
    assert result.verdict.solved


async def failed_in_the_middle(
    folder: Path, happens: Callable[[Path, str], None], kind: str = "local"
) -> BoundaryFailure:
    """The failure of a run in whose first request something happens, given the folder that it shares and its home."""
    task, external = make_task(folder / "suite"), script_harness()
    with meeting_place() as place:

        def script(request: Request) -> Reply:
            if not any(message["role"] == "tool" for message in request.messages):
                happens(place, f"{box.root}/home")
            return solve(request)

        async with make(kind).open(room_for(task.spec, (place,))) as box:
            installed, model = Installed(), Scripted(script)
            made = ExternalAgent(external, installed, box, model, LONG, 7, task.instruction, place)
            with pytest.raises(BoundaryFailure) as caught:
                await made.run()
    assert not place.exists()
    assert processes(str(place), box.root or str(place)) == []
    return caught.value


def kill(program: str, path: str) -> None:
    """Kill each process of a program whose command line has this path, which only a box of this test can have."""
    assert "harness-eval-" in path
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = place.read_bytes()
            if line.split(b"\0")[0].endswith(program.encode()) and path.encode() in line:
                os.kill(int(place.parent.name), SIGKILL)


async def test_a_gateway_that_is_gone_in_the_middle_is_the_endpoints(tmp_path: Path) -> None:
    failure = await failed_in_the_middle(tmp_path, lambda place, _: socket_in(place).unlink())
    assert (failure.owner, failure.label) == ("endpoint", "infra.gateway")
    assert failure.record is not None
    assert len(failure.record.steps) == 1


async def test_a_harness_that_is_killed_in_the_middle_is_the_harnesss(tmp_path: Path) -> None:
    failure = await failed_in_the_middle(tmp_path, lambda _, home: kill("python3", home))
    assert failure.owner == "harness"
    assert "was killed" in str(failure)


@pytest.mark.bubblewrap
async def test_a_box_that_breaks_in_the_middle_is_the_sandboxs(tmp_path: Path) -> None:
    failure = await failed_in_the_middle(tmp_path, lambda place, _: kill("bwrap", str(place)), "bubblewrap")
    assert failure.owner == "sandbox"


def test_what_a_killed_run_leaves_of_a_meeting_place_is_swept_as_a_box_is() -> None:
    with meeting_place() as place:
        assert place in local.left()


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
async def test_the_relay_for_boxes_without_python_carries_both_ways(tmp_path: Path) -> None:
    with meeting_place() as place:
        listener = await anyio.create_unix_listener(socket_in(place))

        async def echo(stream: anyio.abc.SocketStream) -> None:
            async with stream:
                await stream.send(b"back: " + await stream.receive())

        command = ["node", str(place / "relay.js"), str(socket_in(place)), str(tmp_path / "port")]
        async with listener, anyio.create_task_group() as group, await anyio.open_process(command) as relay:
            group.start_soon(listener.serve, echo)
            with anyio.fail_after(30):
                while not (tmp_path / "port").exists():  # noqa: ASYNC110  (nobody tells us)
                    await anyio.sleep(0.02)
                port = int((tmp_path / "port").read_text())
                async with await anyio.connect_tcp("127.0.0.1", port) as stream:
                    await stream.send(b"hello")
                    assert await stream.receive() == b"back: hello"
            relay.kill()
            group.cancel_scope.cancel()


@pytest.mark.parametrize("task", ["x" * (128 << 10), "a\0b"], ids=["long", "NUL"])
async def test_a_task_that_cannot_be_an_argument_is_said_to_be_so(tmp_path: Path, task: str) -> None:
    owner, said = lost(await result_of(tmp_path, script_harness(), instruction=task))
    assert (owner, "takes its task as an argument" in said) == ("harness", True)


async def test_a_long_task_can_come_on_standard_input(tmp_path: Path) -> None:
    told = "import sys; sys.argv.append(sys.stdin.read()); exec(open('{home}/agent.py').read())"
    harness = script_harness(command=["python3", "-c", told], stdin="{prompt}")
    result = await result_of(tmp_path, harness, instruction="it's " * 50_000)
    assert stop_of(result) is StopReason.FINISHED


def test_a_folder_for_temporary_files_with_a_long_name_is_told_before_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("x" * 100)))
    with pytest.raises(ConfigError, match=r"TMPDIR: .* too long for a gateway's socket"):
        require_short_paths()
