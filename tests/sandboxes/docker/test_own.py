"""Tasks with an image of their own, as Terminal-Bench has them: its user, folder and variables count; judged in it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness_eval.errors import TaskFailure
from harness_eval.judging import judge, prove
from harness_eval.sandboxes.base import BoxLimits, BoxSpec, Sandbox, SandboxProvider
from harness_eval.sandboxes.docker import own
from harness_eval.task import load_task
from tests.doubles import make_task
from tests.sandboxes.conftest import BASE_IMAGE, make

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

_DOCKERFILE = f"""FROM {BASE_IMAGE}
RUN useradd --create-home worker && useradd checker && mkdir /work && chown worker /work
ENV LEVEL=7 LANG=C
WORKDIR /work
ENTRYPOINT ["false"]
"""


@pytest.fixture(scope="module")
def docker() -> SandboxProvider:
    return make("docker")


def _image(docker: SandboxProvider, name: str, dockerfile: str) -> str:
    assert docker.name == "docker"  # so that the base image is known to be there
    tag = f"harness-eval-test-{name}"
    subprocess.run(["docker", "build", "--tag", tag, "-"], input=dockerfile.encode(), check=True, capture_output=True)
    return tag


@pytest.fixture(scope="module")
def image(docker: SandboxProvider) -> str:
    return _image(docker, "own", _DOCKERFILE)


@pytest.fixture
def spec(image: str) -> BoxSpec:
    return BoxSpec("own", image=image, workdir_of_image=True)


@pytest.fixture(scope="module")
async def box(docker: SandboxProvider, image: str) -> AsyncIterator[Sandbox]:
    async with docker.open(BoxSpec("own", image=image, workdir_of_image=True)) as opened:
        yield opened


async def test_its_user_folder_and_variables_are_the_images(box: Sandbox) -> None:
    assert box.workdir == "/work"
    assert (await box.run("id -un; pwd; echo $LEVEL $LANG $HOME; ls -d /logs/* /tests /solution")).output == (
        "root\n/work\n7 C /root\n/logs/agent\n/logs/artifacts\n/logs/verifier\n/solution\n/tests\n"
    )


async def test_root_may_install_things_and_has_the_usual_few_rights(box: Sandbox) -> None:
    ran = await box.run(
        "echo x > /usr/local/bin/x && chown worker /usr/local/bin/x && chmod 4755 /usr/local/bin/x; echo $?"
    )
    assert ran.output == "0\n"
    status = (await box.run("grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status")).output
    rights = sum(1 << number for number in (0, 1, 3, 4, 5, 6, 7, 10))
    assert [line.split()[1] for line in status.splitlines()] == [f"{rights:016x}", f"{rights:016x}", "1"]
    assert (await box.run("mount -t tmpfs none /mnt")).exit_code != 0


async def test_a_folder_that_the_task_names_counts(docker: SandboxProvider, spec: BoxSpec) -> None:
    async with docker.open(replace(spec, workdir="/srv/new", workdir_of_image=False)) as box:
        assert (await box.run("pwd")).output == "/srv/new\n"


async def test_an_image_without_a_folder_is_worked_in_at_its_root(docker: SandboxProvider) -> None:
    async with docker.open(BoxSpec("bare", image=BASE_IMAGE, workdir_of_image=True)) as box:
        assert (await box.run("pwd")).output == "/\n"


async def test_a_user_that_the_task_names_works_there_without_rights(docker: SandboxProvider, spec: BoxSpec) -> None:
    async with docker.open(replace(spec, user="worker")) as box:
        ran = await box.run(
            "id -un; echo $HOME; touch mine /logs/agent/x /tests/x; grep CapEff /proc/self/status; touch /x"
        )
        assert ran.output.startswith(f"worker\n/home/worker\nCapEff:\t{'0' * 16}\n")
        assert "Permission denied" in ran.output


async def test_a_user_that_is_not_there_is_the_tasks_fault(docker: SandboxProvider, spec: BoxSpec) -> None:
    with pytest.raises(TaskFailure, match="own: the image harness-eval-test-own has no user nobody-here"):
        async with docker.open(replace(spec, user="nobody-here")):
            pytest.fail("it opened")


async def test_programs_for_another_machine_are_the_tasks_fault(docker: SandboxProvider, tmp_path: Path) -> None:
    for name in ("sh", "python3", "bash"):
        (tmp_path / name).write_bytes(b"\x7fELF\x02\x01\x01" + bytes(57))
        (tmp_path / name).chmod(0o755)
    (tmp_path / "Dockerfile").write_text("FROM scratch\nENV PATH=/\nCOPY sh python3 bash /\n")
    with pytest.raises(
        TaskFailure, match=r"foreign: the programs of the image \S+ cannot run here: it is made for \w+,"
    ):
        async with docker.open(BoxSpec("foreign", environment=tmp_path)):
            pytest.fail("it opened")


async def test_an_image_without_a_shell_is_the_tasks_fault(docker: SandboxProvider, tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM scratch\nCOPY Dockerfile /\n")
    with pytest.raises(TaskFailure, match=r"empty: the image \S+ cannot be used: .*executable file not found"):
        async with docker.open(BoxSpec("empty", environment=tmp_path)):
            pytest.fail("it opened")


async def test_it_is_judged_in_the_same_container_with_fresh_folders(docker: SandboxProvider, spec: BoxSpec) -> None:
    async with docker.open(spec) as box:
        await box.run(
            "echo 1 > /logs/verifier/reward.txt; echo x > /tests/x; echo done > /etc/done; (setsid sleep 300 &)"
        )
        async with docker.seal(box, spec) as sealed:
            ran = await sealed.run("cat /etc/done; pgrep -c sleep; find /tests /logs | sort; id -un")
            assert ran.output == "done\n0\n/logs\n/logs/agent\n/logs/artifacts\n/logs/verifier\n/tests\nroot\n"


async def test_a_verifier_may_be_another_user(docker: SandboxProvider, spec: BoxSpec) -> None:
    spec = replace(spec, user="worker", verifier_user="checker")
    async with docker.open(spec) as box:
        await box.run("echo forged > /logs/verifier/reward.txt; mkdir -m 700 closed")
        async with docker.seal(box, spec) as sealed:
            ran = await sealed.run("id -un; pwd; echo 1 > /logs/verifier/reward.txt; touch /tests/x; ls closed")
            assert ran.output.startswith("checker\n/work\n")
            assert "closed" in ran.output
            assert await sealed.read("/logs/verifier/reward.txt") == b"1\n"
            await sealed.run("(setsid sleep 300 &)")
            await sealed.end_processes()
            assert (await sealed.run("pgrep -c sleep")).output == "0\n"


@pytest.fixture
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "_INTERVAL", 0.2)


@pytest.fixture
async def small(docker: SandboxProvider, spec: BoxSpec, looks_often: None) -> AsyncIterator[Sandbox]:
    del looks_often
    async with docker.open(replace(spec, limits=BoxLimits(disk_mb=20))) as opened:
        yield opened


_FILL = "for i in 1 2 3 4; do head -c 10000000 /dev/zero > /var/tmp/$i; done"


async def test_files_that_outgrow_the_disk_together_end_what_ran(small: Sandbox) -> None:
    ran = await small.run(f"{_FILL}; (setsid sleep 300 &); sleep 60; echo late", timeout=50)
    assert (ran.exit_code, ran.timed_out) == (137, False)
    assert "disk limit of 20 MB" in ran.output
    assert (await small.run("pgrep -c sleep")).output.startswith("0\n")


async def test_nothing_can_be_written_until_there_is_room_again(small: Sandbox) -> None:
    await small.run(f"{_FILL}; sleep 60", timeout=50)
    ran = await small.run("echo more > /var/tmp/5; cat /var/tmp/5 | wc -c")
    assert "disk limit" in ran.output
    assert (await small.run("stat -c %s /var/tmp/5")).output.startswith("0\n")
    with pytest.raises(OSError, match="disk limit"):
        await small.write("note", b"x")
    await small.run("rm /var/tmp/*")
    ran = await small.run("echo fine > note; cat note")
    assert ran.output == "fine\n"


async def test_a_full_disk_can_still_be_judged(docker: SandboxProvider, small: Sandbox, spec: BoxSpec) -> None:
    await small.run(f"{_FILL}; sleep 60", timeout=50)
    async with docker.seal(small, spec) as sealed:
        assert (await sealed.run("echo 1 > /logs/verifier/reward.txt; cat /logs/verifier/reward.txt")).output == "1\n"


_SOLVE = "printf '#!/bin/sh\\ncat /etc/number\\n' > /usr/local/bin/answer\nchmod 755 /usr/local/bin/answer\n"
_TASK = {
    "task.toml": "[environment]\nallow_internet = false\n[verifier]\ntimeout_sec = 60.0\n",
    "instruction.md": "Install the program answer.\n",
    "environment/Dockerfile": f"FROM {BASE_IMAGE}\nRUN echo 42 > /etc/number\nWORKDIR /srv\n",
    "tests/test.sh": 'reward=0\n[ "$(answer)" = 42 ] && reward=1\necho $reward > /logs/verifier/reward.txt\n',
    "solution/solve.sh": _SOLVE,
}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    task = tmp_path / f"own-{os.getpid()}"
    for name, text in _TASK.items():
        (task / name).parent.mkdir(parents=True, exist_ok=True)
        (task / name).write_text(text)
    yield task
    tags = subprocess.check_output(["docker", "images", "--quiet", f"harness-eval-{task.name}"], text=True).split()
    subprocess.run(["docker", "rmi", "--force", *tags], check=False, capture_output=True)


async def test_a_task_whose_solution_installs_something_gets_its_reward(docker: SandboxProvider, folder: Path) -> None:
    proof = await prove(load_task(folder), docker)
    assert (proof.ok, proof.detail) == (True, "")


@pytest.mark.parametrize("attack", ["kill -9 $PPID", "kill -9 -1", "kill -STOP $PPID", "kill -STOP -1"])
async def test_a_user_of_the_image_cannot_end_what_serves_it(
    docker: SandboxProvider, spec: BoxSpec, attack: str
) -> None:
    async with docker.open(replace(spec, user="worker")) as box:
        await box.run(f"sleep 300 & {attack}", timeout=3)
        assert (await box.run("id -un; cat /proc/$PPID/environ")).output.splitlines() == [
            "worker",
            "cat: /proc/" + (await box.run("echo $PPID")).output.strip() + "/environ: Permission denied",
        ]


async def test_files_are_written_and_read_as_the_user_of_the_image(docker: SandboxProvider, spec: BoxSpec) -> None:
    async with docker.open(replace(spec, user="worker")) as box:
        await box.write("mine", b"x")
        assert (await box.run("stat -c '%U %G' mine; cut -d: -f1 /etc/group | grep -x worker")).output == (
            "worker worker\nworker\n"
        )
        with pytest.raises(PermissionError):
            await box.read("/etc/shadow")
        with pytest.raises(PermissionError):
            await box.write("/etc/passwd", b"")


@pytest.mark.parametrize(
    ("user", "said"), [("1234", "1234:0:0:/"), ("worker:checker", "worker:checker:checker:/home/worker")]
)
async def test_a_user_may_be_a_number_and_name_a_group(
    docker: SandboxProvider, spec: BoxSpec, user: str, said: str
) -> None:
    async with docker.open(replace(spec, user=user, workdir="/tmp", workdir_of_image=False)) as box:
        name, group, groups, home = said.split(":")
        ran = await box.run("id -u; id -un; id -g; id -gn; id -G; id -Gn; echo $HOME")
        assert {name, group, groups, home} <= set(ran.output.split())


BREAKING = {
    "no bash": "rm -f /bin/bash /usr/bin/bash",
    "a bash that fails": "printf '#!/bin/sh\\nexit 1\\n' > /tmp/b; chmod 755 /tmp/b; mv /tmp/b /usr/bin/bash",
    "no mkdir": "rm -f /usr/bin/mkdir /bin/mkdir",
    "no programs": "rm -rf /usr/bin /usr/lib 2>/dev/null",
    "no sh": "rm -f /bin/sh /usr/bin/sh",
    "no users": "echo > /etc/passwd; echo > /etc/group",
}


@pytest.mark.parametrize("verifier", ["", "[verifier]\nuser = 'checker'\n"])
@pytest.mark.parametrize("broken", BREAKING.values(), ids=BREAKING.keys())
async def test_a_container_that_root_has_broken_is_a_zero(
    docker: SandboxProvider, image: str, tmp_path: Path, broken: str, verifier: str
) -> None:
    task = make_task(tmp_path, toml=f"docker_image = '{image}'\n{verifier}")
    async with docker.open(task.spec) as box:
        await box.run(broken)
        assert (await judge(task, box, docker)).score == 0
