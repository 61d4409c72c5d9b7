"""A task's environment in a box."""

from __future__ import annotations

import py_compile
from pathlib import Path

import pytest

from harness_eval.errors import SandboxFailure, TaskFailure
from harness_eval.sandboxes import provider
from harness_eval.sandboxes.base import BoxSpec, SandboxProvider
from tests.sandboxes.conftest import KINDS

pytestmark = pytest.mark.anyio
each_kind = pytest.mark.parametrize("boxes", KINDS, indirect=True, scope="module")


def _environment(folder: Path, setup: str | None = None, dockerfile: str | None = None) -> Path:
    (folder / "files" / "src").mkdir(parents=True)
    (folder / "files" / "src" / "main.py").write_text("print('hi')\n")
    if setup is not None:
        (folder / "setup.sh").write_text(setup)
    if dockerfile is not None:
        (folder / "Dockerfile").write_text(dockerfile)
    return folder


@each_kind
async def test_files_are_in_the_working_directory_and_writable(boxes: SandboxProvider, tmp_path: Path) -> None:
    spec = BoxSpec("plain", environment=_environment(tmp_path))
    async with boxes.open(spec) as box:
        assert (await box.run("echo '#' >> src/main.py && python3 src/main.py")).output == "hi\n"


@each_kind
async def test_what_an_installer_has_compiled_of_a_tasks_programs_stays_behind(
    boxes: SandboxProvider, tmp_path: Path
) -> None:
    source = _environment(tmp_path) / "files" / "src"
    py_compile.compile(str(source / "main.py"), doraise=True)
    py_compile.compile(str(source / "main.py"), doraise=True, optimize=1)
    (source / "lost" / "__pycache__").mkdir(parents=True)
    (source / "lost" / "__pycache__" / "only.cpython-312.pyc").write_bytes(b"its source is gone: part of the task")
    (source / "lost" / "__pycache__" / "notes.txt").touch()
    async with boxes.open(BoxSpec("installed", environment=tmp_path)) as box:
        found = (await box.run("find src -mindepth 1 | sort")).output.split()
    lost = "src/lost/__pycache__"
    assert found == ["src/lost", lost, f"{lost}/notes.txt", f"{lost}/only.cpython-312.pyc", "src/main.py"]


@each_kind
async def test_setup_runs_there_and_leaves_no_trace_of_itself(boxes: SandboxProvider, tmp_path: Path) -> None:
    spec = BoxSpec("prepared", environment=_environment(tmp_path, "set -e\npwd > place\nmv src lib"))
    async with boxes.open(spec) as box:
        assert (await box.run("ls; cat place")).output == f"lib\nplace\n{box.workdir}\n"


@each_kind
async def test_a_setup_that_fails_is_the_tasks_fault_and_says_why(boxes: SandboxProvider, tmp_path: Path) -> None:
    spec = BoxSpec("broken", environment=_environment(tmp_path, "echo cannot find the flour >&2; exit 3"))
    with pytest.raises(TaskFailure, match=r"(?s)broken: .*ended with 3.*cannot find the flour"):
        async with boxes.open(spec):
            pytest.fail("it opened")


@each_kind
async def test_a_setup_that_takes_too_long_is_the_tasks_fault(boxes: SandboxProvider, tmp_path: Path) -> None:
    async with boxes.open(BoxSpec("warm")):
        pass
    spec = BoxSpec("slow", environment=_environment(tmp_path, "sleep 300"), build_timeout=1.5)
    with pytest.raises(TaskFailure, match=r"longer than 1\.5 s"):
        async with boxes.open(spec):
            pytest.fail("it opened")


@each_kind
async def test_the_working_directory_and_variables_are_the_tasks(boxes: SandboxProvider) -> None:
    spec = BoxSpec("elsewhere", workdir="/srv/work", env={"FLOUR": "rye"})
    async with boxes.open(spec) as box:
        assert box.workdir == f"{box.root}/srv/work"
        assert (await box.run('touch x; pwd; echo "$FLOUR"')).output == f"{box.workdir}\nrye\n"


@each_kind
async def test_the_folders_for_logs_exist(boxes: SandboxProvider) -> None:
    async with boxes.open(BoxSpec("logs")) as box:
        ran = await box.run(f"cd {box.root}/logs && touch verifier/x && ls")
        assert ran.output == "agent\nartifacts\nverifier\n"


async def test_an_image_needs_docker() -> None:
    with pytest.raises(SandboxFailure, match="use the docker sandbox"):
        async with provider("local").open(BoxSpec("imaged", image="debian:12")):
            pytest.fail("it opened")


async def test_a_dockerfile_for_any_base_needs_no_docker_and_another_does(tmp_path: Path) -> None:
    environment = _environment(tmp_path, dockerfile="ARG BASE=x\nFROM ${BASE}\nWORKDIR /app\nCOPY files/ /app/\n")
    async with provider("local").open(BoxSpec("movable", environment=environment)) as box:
        assert (await box.run("ls")).output == "src\n"
    (environment / "Dockerfile").write_text("FROM node:22\nRUN npm install -g cowsay\n")
    with pytest.raises(SandboxFailure, match="use the docker sandbox"):
        async with provider("local").open(BoxSpec("bound", environment=environment)):
            pytest.fail("it opened")


@pytest.mark.parametrize("boxes", [k for k in KINDS if "docker" not in str(k)], indirect=True, scope="module")
async def test_a_tasks_variables_reach_its_commands_and_nothing_that_starts_the_box(
    boxes: SandboxProvider, tmp_path: Path
) -> None:
    spec = BoxSpec(
        "variables", env={"PATH": "/nowhere:/usr/bin:/bin", "LD_PRELOAD": f"{tmp_path}/none.so", "LEVEL": "7"}
    )
    async with boxes.open(spec) as box:
        assert (await box.run("echo $LEVEL $PATH")).output.splitlines()[-1] == "7 /nowhere:/usr/bin:/bin"
