"""Judging in Docker: a fresh container, in which what the agent left runs without reaching the verifier."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator

import pytest

from harness_eval.sandboxes.base import BoxLimits, BoxSpec, Sandbox, SandboxProvider
from tests.sandboxes.conftest import make

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

_LEAVE = """
mkdir -p deep/er private && echo kept > deep/er/file && echo secret > private/key && ln -s deep/er/file link
chmod 755 deep/er/file; chmod 000 private/key; chmod 700 private; touch -d @1000000000 deep/er/file
echo forged > /tests/test.sh; echo 1 > /logs/verifier/reward.txt; echo evil > ~/.bashrc; echo x > /tmp/left
(setsid sleep 300 &)
"""


@pytest.fixture(scope="module")
async def sealed() -> AsyncIterator[Sandbox]:
    boxes, spec = make("docker"), BoxSpec("judged", env={"LEVEL": "7"})
    async with boxes.open(spec) as box:
        await box.run(_LEAVE)
        async with boxes.seal(box, spec) as judge:
            await judge.write("/tests/secret", b"hidden")
            yield judge


async def _solver(judge: Sandbox, command: str) -> str:
    return (await judge.run(f"{judge.as_solver} bash -c {shlex.quote(command)}")).output


async def test_the_working_directory_is_there_as_it_was_left(sealed: Sandbox) -> None:
    ran = await sealed.run(
        "ls; readlink link; stat -c '%a %u %g %Y' deep/er/file; stat -c '%a %u' private private/key; cat link"
    )
    assert ran.output == "deep\nlink\nprivate\ndeep/er/file\n755 1000 1000 1000000000\n700 1000\n0 1000\nkept\n"


async def test_nothing_else_is_there(sealed: Sandbox) -> None:
    ran = await sealed.run("cat /tests/test.sh /logs/verifier/reward.txt; ls -A ~ /home/agent /tmp; pgrep -c sleep")
    assert "forged" not in ran.output
    assert ".bashrc" not in ran.output
    assert "left" not in ran.output
    assert ran.output.endswith("\n0\n")


async def test_the_verifier_has_the_tasks_variables_and_reads_what_was_closed(sealed: Sandbox) -> None:
    assert (await sealed.run("echo $LEVEL; id -u; cat private/key")).output == "7\n0\nsecret\n"


async def test_the_verifier_is_root_with_the_rights_over_files_and_users_alone(sealed: Sandbox) -> None:
    ran = await sealed.run("grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status | tr -s '\\t' ' '; touch /usr/x")
    rights = sum(1 << number for number in (0, 1, 3, 5, 6, 7))  # chown, dac_override, fowner, kill, setgid, setuid
    lines = f"CapEff: {rights:016x}\nCapBnd: {rights:016x}\nNoNewPrivs: 1\n"
    assert ran.output.startswith(lines)
    assert "Read-only" in ran.output


async def test_the_solvers_code_has_no_rights_and_its_own_session(sealed: Sandbox) -> None:
    said = await _solver(
        sealed, "id -u; id -G; echo $HOME; grep -E 'Cap(Prm|Eff|Amb)|NoNew' /proc/self/status; ps -o sid= -p $$"
    )
    lines = said.split("\n")
    assert lines[:3] == ["1000", "1000", "/home/agent"]
    assert [line.split()[1] for line in lines[3:7]] == ["0" * 16, "0" * 16, "0" * 16, "1"]
    assert lines[7].strip() != (await sealed.run("ps -o sid= -p $$")).output.strip()


async def test_the_solvers_code_works_in_the_working_directory(sealed: Sandbox) -> None:
    assert await _solver(sealed, "pwd; echo more >> deep/er/file && cat link; touch /tmp/x ~/x && echo able") == (
        "/app\nkept\nmore\nable\n"
    )


async def test_the_solvers_code_reaches_neither_tests_nor_logs(sealed: Sandbox) -> None:
    for command in (
        "cat /tests/secret",
        "ls /tests",
        "echo 1 > /logs/verifier/reward.txt",
        "ls /logs",
        "rm -rf /tests",
    ):
        ran = await sealed.run(f"{sealed.as_solver} bash -c {shlex.quote(command)}")
        assert ran.exit_code != 0, command
        assert "hidden" not in ran.output
    assert await sealed.read("/tests/secret") == b"hidden"
    with pytest.raises(FileNotFoundError):
        await sealed.read("/logs/verifier/reward.txt")


async def test_the_solvers_code_neither_signals_nor_traces_roots_processes(sealed: Sandbox) -> None:
    trace = "import ctypes; print(ctypes.CDLL(None).ptrace(16, {pid}, 0, 0))"
    await sealed.write("/tmp/steal.py", trace.format(pid="int(__import__('sys').argv[1])").encode())
    tried = (
        "kill -9 $pid; kill -9 1; cat /proc/$pid/environ /proc/1/environ; ls /proc/$pid/fd; python3 /tmp/steal.py $pid"
    )
    command = f'sleep 30 & pid=$!\n{sealed.as_solver} bash -c "{tried}"\nkill -0 $pid && echo alive; kill $pid'
    ran = await sealed.run(command)
    assert ran.output.count("Operation not permitted") == 2
    assert ran.output.count("Permission denied") == 3
    assert ran.output.endswith("-1\nalive\n")


async def test_no_right_comes_back(sealed: Sandbox) -> None:
    said = await _solver(sealed, "python3 -c 'import os; os.setuid(0)'; unshare -Ur true; chown 0 deep; echo end")
    assert said.count("not permitted") == 3
    assert said.endswith("end\n")


async def test_a_leader_of_a_group_can_become_the_solver_too(sealed: Sandbox) -> None:
    assert (await sealed.run(f"setsid -w {sealed.as_solver} id -u")).output == "1000\n"


async def test_what_the_solvers_code_leaves_running_is_ended_by_the_verifier(sealed: Sandbox) -> None:
    await _solver(sealed, "(setsid sleep 300 &)")
    assert (await sealed.run("pgrep -c sleep")).output == "1\n"
    await sealed.end_processes()
    assert (await sealed.run("pgrep -c sleep")).output == "0\n"


@pytest.fixture(scope="module")
def docker() -> SandboxProvider:
    return make("docker")


async def test_what_fills_the_disk_can_be_judged_with_room_to_spare(docker: SandboxProvider) -> None:
    spec = BoxSpec("full", limits=BoxLimits(memory_mb=128, disk_mb=16))
    async with docker.open(spec) as box:
        await box.run("head -c 15000000 /dev/zero > filling")
        async with docker.seal(box, spec) as judge:
            assert (await judge.run("cp filling copy && cp -r . /tmp/copy && stat -c %s copy")).output == "15000000\n"
