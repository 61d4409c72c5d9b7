"""Commands that mean harm, or do some: what they can reach, what is left of the box, and what it is then judged.

Every test runs where its promise holds. What could hurt this machine never runs in the local sandbox, where commands
are ours. What a verdict can be made to say is in `tests/test_judging.py`.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import pytest

from harness_eval.judging import judge
from harness_eval.sandboxes.base import BoxLimits, BoxSpec, Sandbox, SandboxProvider
from tests.doubles import make_task
from tests.sandboxes.conftest import ISOLATED, KINDS, SHELL, is_there, make

pytestmark = pytest.mark.anyio
EVERYWHERE = pytest.mark.parametrize("boxes", [*KINDS, SHELL], indirect=True, scope="module")
KEPT_IN = pytest.mark.parametrize("boxes", [*ISOLATED, SHELL], indirect=True, scope="module")

_TIGHT = BoxLimits(memory_mb=64, pids=50, disk_mb=32)
_TOML = "memory_mb = 64\nstorage_mb = 32\n"


async def usable(box: Sandbox) -> bool:
    return (await box.run("echo fine", timeout=30)).output == "fine\n"


@pytest.fixture
async def tight(boxes: SandboxProvider) -> AsyncIterator[Sandbox]:
    async with boxes.open(BoxSpec("tight", limits=_TIGHT)) as opened:
        yield opened


# Output


@EVERYWHERE
async def test_a_child_that_holds_the_output_is_told_and_alive_for_the_next_command(box: Sandbox, mark: str) -> None:
    with anyio.fail_after(20):
        ran = await box.run(f"sleep {mark} & echo started", timeout=60)
    assert (ran.output, ran.exit_code, ran.timed_out, ran.held) == ("started\n", 0, False, True)
    assert (await box.run(f"pgrep -fc '^sleep {mark}'; pkill -f '^sleep {mark}'")).output == "1\n"


@EVERYWHERE
async def test_what_a_child_writes_after_its_command_is_in_no_later_output(box: Sandbox) -> None:
    await box.run("(for i in 1 2 3 4 5 6; do sleep 0.1; echo late; done) &")
    assert (await box.run("sleep 0.3; echo mine")).output == "mine\n"
    assert (await box.run("sleep 0.3; echo mine")).output == "mine\n"


@EVERYWHERE
async def test_a_program_that_asks_for_ever_ends_at_its_time(box: Sandbox) -> None:
    ran = await box.run("while read -r -p 'name: ' x || true; do [ -n \"$x\" ] && break; done", timeout=0.7)
    assert (ran.timed_out, ran.exit_code, await usable(box)) == (True, None, True)


_FLOOD = """
import resource, sys, anyio
from harness_eval.sandboxes.base import BoxSpec
from tests.sandboxes.conftest import make

async def main():
    async with make(sys.argv[1]).open(BoxSpec("flood")) as box:
        await box.run("echo warm | cat")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        ran = await box.run("echo first; yes 'ä€ bcdef' | head -c 300000000; echo; echo last", timeout=120)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert ran.output.startswith("first\\nä€ bcdef\\n") and ran.output.endswith("\\nlast\\n")
    assert not ran.timed_out and "characters not kept" in ran.output and len(ran.output) < 1_100_000
    assert ran.full_length > 200_000_000 and "\\ufffd" not in ran.output.replace("\\ufffd\\nlast", "")
    print(grown)

anyio.run(main)
"""


@pytest.mark.parametrize("kind", [*KINDS, SHELL])
def test_a_flood_of_output_takes_no_memory_of_ours(kind: str) -> None:
    make(kind)
    root = Path(__file__).parents[2]
    ran = subprocess.run(
        [sys.executable, "-c", _FLOOD, kind], cwd=root, capture_output=True, text=True, timeout=180, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) < 100 << 10  # in KiB


@EVERYWHERE
async def test_a_neighbour_works_on_during_a_flood(box: Sandbox, boxes: SandboxProvider) -> None:
    async with boxes.open(BoxSpec("neighbour")) as neighbour, anyio.create_task_group() as group:
        group.start_soon(lambda: box.run("yes", timeout=1))
        for _ in range(5):
            assert await usable(neighbour)


@EVERYWHERE
@pytest.mark.parametrize(
    ("command", "length"),
    [
        ("head -c 3000000 /dev/urandom", None),
        ("head -c 5000000 /dev/zero | tr '\\0' x", 5_000_000),
        (r"printf '\033[2J\033]0;title\007\r\b\001\177'", 18),
        (r"printf '\000\000\000\003abc'; printf '\000\000\000\377'", 11),
    ],
    ids=["binary", "one long line", "control characters", "what looks like a message"],
)
async def test_any_output_is_only_output(box: Sandbox, command: str, length: int | None) -> None:
    ran = await box.run(command)
    assert (ran.exit_code, ran.timed_out) == (0, False)
    assert length in (None, ran.full_length)
    assert await usable(box)


@EVERYWHERE
async def test_closed_descriptors_close_nothing_but_the_commands_own(box: Sandbox) -> None:
    ran = await box.run('exec 0<&- 1>&- 2>&-; for fd in 3 4 5 6 7 8 9; do eval "exec $fd>&-"; done; echo lost')
    assert (ran.output, ran.timed_out) == ("", False)
    assert await usable(box)


@EVERYWHERE
async def test_the_descriptors_of_a_command_are_three(box: Sandbox) -> None:
    ran = await box.run("cd /proc/self/fd && echo *; readlink 0")
    assert ran.output.split()[:3] == ["0", "1", "2"]
    assert ran.output.split()[-1] == "/dev/null"
    assert len(ran.output.split()) <= 5  # and those by which bash looks


# Input of ours


@EVERYWHERE
async def test_a_command_of_a_megabyte_is_refused_alone(box: Sandbox) -> None:
    ran = await box.run("true " + "#" * (1 << 20))
    assert (ran.exit_code, ran.timed_out, await usable(box)) == (126, False, True)


@EVERYWHERE
async def test_a_command_of_a_hundred_kilobytes_and_many_lines_runs(box: Sandbox) -> None:
    lines = "\n".join(f"x=$((x + {number}))  # '\"\\$" for number in range(4000))
    assert (await box.run(f"{lines}\necho $x")).output == f"{sum(range(4000))}\n"


@EVERYWHERE
async def test_a_flood_of_the_environment_fails_alone(box: Sandbox) -> None:
    ran = await box.run("export x=$(head -c 3000000 /dev/zero | tr '\\0' x); /bin/true; echo $?")
    assert ran.output.endswith("126\n")
    await box.run(
        "echo 'export PATH=/nowhere' >> ~/.bashrc; echo 'exit 1' >> ~/.profile; echo 'exit 1' > ~/.bash_profile"
    )
    assert await usable(box)
    await box.run("rm ~/.bashrc ~/.profile ~/.bash_profile")


# Files


@EVERYWHERE
async def test_names_of_any_bytes_and_length_are_only_names(box: Sandbox) -> None:
    await box.run("mkdir names && cd names && touch -- -rf '*' $'a\\nb' $'\\377' \"$(printf 'n%.0s' {1..255})\" ' '")
    await box.write("names/; touch forged '$(touch forged)' `touch forged`", b"x")
    assert await box.read("names/; touch forged '$(touch forged)' `touch forged`") == b"x"
    assert await box.read(f"names/{'n' * 255}") == b""
    with pytest.raises(OSError, match=r"too long|No such file"):
        await box.read("names/" + "n" * 300)
    assert (await box.run("ls names | wc -l; ls -d forged names/forged 2>/dev/null; rm -r names")).output == "8\n"


@EVERYWHERE
async def test_a_working_directory_that_is_closed_or_gone_fails_commands_alone(boxes: SandboxProvider) -> None:
    async with boxes.open(BoxSpec("gone", workdir="/tmp/work")) as box:
        await box.run('cd / && rm -rf "$OLDPWD"', cwd=None)
        assert (await box.run("echo again > note; cat note")).output == "again\n"
        await box.run("chmod 000 .")
        await box.run("true")
        assert (await box.run("echo fine", cwd="/")).output == "fine\n" or box.root
        await box.run(f"chmod 755 {box.workdir}", cwd=box.root or "/")
        assert (await box.run("cat note")).output == "again\n"


@EVERYWHERE
async def test_very_many_files_are_made_and_gone_with_the_box(boxes: SandboxProvider) -> None:
    async with boxes.open(BoxSpec("many", limits=BoxLimits(disk_mb=256))) as box:
        ran = await box.run("mkdir d && cd d && seq 20000 | xargs touch && ls | wc -l", timeout=60)
        assert ran.output == "20000\n"
    assert not box.root or not is_there(box.root)


@KEPT_IN
async def test_links_to_files_of_the_host_show_the_boxs_own(box: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("host")
    await box.run(f"ln -sfn '{tmp_path}/secret' secret; ln -sfn /proc/1/root root")
    for path in ("secret", f"root{tmp_path}/secret"):
        with pytest.raises(OSError, match=r"No such|denied|not"):
            await box.read(path)
    await box.run("rm secret root")


@KEPT_IN
@pytest.mark.parametrize("place", ["filling", "/logs/agent/filling", "/tmp/filling", "$HOME/filling"])
async def test_a_full_disk_is_the_boxs_and_not_the_machines(boxes: SandboxProvider, place: str, tmp_path: Path) -> None:
    if boxes.name == "docker" and "files together" in boxes.promises:
        pytest.skip("this engine has no limit on all files together")
    task = make_task(tmp_path, toml=_TOML)
    before = shutil.disk_usage("/").free
    async with boxes.open(task.spec) as box:
        for number in range(3):
            ran = await box.run(f"head -c 60000000 /dev/zero > {place}{number}; echo $?", timeout=30)
        assert ran.output.splitlines()[-1] != "0"
        assert before - shutil.disk_usage("/").free < 400 << 20  # others write there, too
        assert (await judge(task, box, boxes)).score == 0


# Processes


@EVERYWHERE
async def test_a_time_out_finds_children_however_they_left(
    box: Sandbox, seen: Callable[..., list[str]], mark: str
) -> None:
    command = (
        f"nohup sleep {mark}.1 & setsid sleep {mark}.2 & (setsid bash -c '(sleep {mark}.3 &) &') & "
        f"(env -i setsid sleep {mark}.4 &) & disown -a; (trap '' HUP INT TERM; sleep {mark}.5 &); sleep {mark}.6"
    )
    assert (await box.run(command, timeout=1)).timed_out
    assert seen(mark) == []
    assert await usable(box)


@EVERYWHERE
async def test_a_time_out_leaves_no_name_behind_which_to_hide(
    box: Sandbox, seen: Callable[..., list[str]], mark: str
) -> None:
    await box.run("cp \"$(command -v sleep)\" './a) S 1 1' && cp ./'a) S 1 1' './a\n(b) Z 1'")
    ran = await box.run(f"(setsid './a) S 1 1' {mark} &); (setsid './a\n(b) Z 1' {mark} &); sleep {mark}", timeout=1)
    assert ran.timed_out
    assert seen(mark) == []


@KEPT_IN
@pytest.mark.parametrize(
    "command",
    ["kill -9 $$", "kill -9 -1", "kill -9 $PPID", "kill 0", "kill -9 1", "kill -STOP 1", "kill -HUP 1; kill -INT 1"],
)
async def test_the_shell_and_all_around_it_may_be_killed(box: Sandbox, command: str) -> None:
    ran = await box.run(f"{command}; sleep 0.1", timeout=20)
    assert not ran.timed_out
    assert await usable(box)


@KEPT_IN
async def test_all_may_be_stopped(box: Sandbox) -> None:
    assert (await box.run("kill -STOP -1; kill -STOP $$", timeout=0.5)).timed_out
    assert await usable(box)


@KEPT_IN
async def test_what_kills_all_again_and_again_is_ended_with_the_agents_turn(boxes: SandboxProvider) -> None:
    async with boxes.open(BoxSpec("killer")) as box:
        await box.run("(setsid bash -c 'while sleep 0.02; do kill -9 -1; done' > /dev/null 2>&1 &)")
        for _ in range(3):
            await box.run("echo anything; sleep 0.1", timeout=5)
        await box.end_processes()
        assert await usable(box)


_BOMBS = {
    "waited for": "bomb() { bomb | bomb & }; bomb; sleep 60",
    "in the background": "bomb() { bomb | bomb & }; bomb > /dev/null 2>&1",
    "of shells": "(while true; do (setsid sleep 60 &); done) > /dev/null 2>&1 &",
}


@KEPT_IN
@pytest.mark.parametrize("bomb", _BOMBS.values(), ids=_BOMBS.keys())
async def test_a_fork_bomb_is_bounded_and_its_box_judged(boxes: SandboxProvider, bomb: str, tmp_path: Path) -> None:
    task = make_task(tmp_path, toml="memory_mb = 256\n")
    before = _threads()
    async with boxes.open(task.spec) as box:
        await box.run(bomb, timeout=1)
        await box.run("echo next", timeout=2)
        assert _threads() - before < 600
        assert (await judge(task, box, boxes)).score == 0
        assert await usable(box)


def _threads() -> int:
    return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])


_HOGS = {
    "one program": "python3 -c 'x = bytearray(900 << 20)' || head -c 900000000 /dev/zero | tail",
    "a shell": "x=$(yes | head -c 200000000); echo ${#x}",
    "many programs": "for i in 1 2 3 4 5 6 7 8 9; do (tail /dev/zero &) ; done; sleep 1",
    "files in memory": "head -c 900000000 /dev/zero > /dev/shm/x",
}


@KEPT_IN
@pytest.mark.parametrize("hog", _HOGS.values(), ids=_HOGS.keys())
async def test_a_memory_bomb_is_killed_and_its_box_judged(boxes: SandboxProvider, hog: str, tmp_path: Path) -> None:
    task = make_task(tmp_path, toml=_TOML)
    async with boxes.open(task.spec) as box:
        await box.run(hog, timeout=20)
        assert await usable(box)
        assert (await judge(task, box, boxes)).score == 0


@EVERYWHERE
async def test_nothing_survives_the_box(boxes: SandboxProvider, seen: Callable[..., list[str]], mark: str) -> None:
    async with boxes.open(BoxSpec("leaving")) as box:
        await box.run(f"(setsid nohup sleep {mark} &); (env -i setsid sleep {mark} &); (trap '' TERM; sleep {mark} &)")
        assert len(seen(mark)) >= 3
    assert seen(mark) == []


# The supervisor and the machine


@KEPT_IN
async def test_the_first_process_cannot_be_looked_into(box: Sandbox) -> None:
    look = "for name in environ maps fd mem root cwd io auxv; do head -c 1 /proc/1/$name; ls /proc/1/$name/; done"
    ran = await box.run(f"({look}) 2>/dev/null")
    assert ran.output == ""
    ran = await box.run("tr '\\0' ' ' < /proc/1/cmdline")
    assert all(word not in ran.output for word in ("kill_mine", "Supervisor", "token=", "posix_spawn"))


_TRACE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for pid in [int(name) for name in os.listdir('/proc') if name.isdigit()]:
    if pid in (os.getpid(), os.getppid()):
        continue
    if libc.ptrace(16, pid, 0, 0) == 0:
        comm = open(f'/proc/{pid}/cmdline').read()
        print('traced', pid, comm)
"""


@KEPT_IN
async def test_the_first_process_cannot_be_traced(box: Sandbox) -> None:
    if (await box.run("command -v python3")).exit_code:
        pytest.skip("there is no python3 in the box to try it with")
    await box.write("trace.py", _TRACE.encode())
    assert "traced 1 " not in (await box.run("python3 trace.py")).output
    assert await usable(box)


@KEPT_IN
async def test_no_port_of_the_machine_and_no_name_server_is_reached(box: Sandbox) -> None:
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        own = [found[4][0] for found in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
        for address in {"127.0.0.1", "0.0.0.0", *own}:
            ran = await box.run(f"exec 3<>/dev/tcp/{address}/{port}", timeout=10)
            assert ran.exit_code != 0
    ran = await box.run("getent hosts example.org; exec 3<>/dev/tcp/192.0.2.1/53", timeout=20)
    assert ran.exit_code != 0
    assert "192.0.2.1: Network is unreachable" in ran.output or "unreachable" in ran.output


@KEPT_IN
@pytest.mark.parametrize(
    "command",
    [
        "test -S /var/run/docker.sock || test -S /run/docker.sock",
        "mount -t tmpfs none /mnt",
        "mount --bind / /mnt",
        "umount /proc",
        "chroot / true",
        "cat /dev/mem /dev/kmsg /dev/sda /dev/vda",
        "mknod disk b 254 0 && cat disk",
        "date -s 2001-01-01",
        "hostname elsewhere",
        "echo 1 > /proc/sys/kernel/panic",
        "echo b > /proc/sysrq-trigger",
        "nice -n -5 true 2>&1 | grep -q . && false",
        "renice -n -5 1",
        "chown 0:0 .",
        "cp /bin/sh rooted && chmod 4755 rooted && ./rooted -p -c 'test $(id -u) = 0'",
        "su -c true",
        "unshare -Ur true",
        "swapoff -a && false; echo 1 > /proc/1/oom_score_adj",
        "dmesg | grep -q .",
    ],
)
async def test_nothing_of_the_machine_can_be_changed_or_seen(box: Sandbox, command: str) -> None:
    clock = time.time()
    assert (await box.run(f"set -o pipefail; {command}", timeout=20)).exit_code != 0
    assert time.time() - clock < 1000
    assert await usable(box)


@KEPT_IN
async def test_programs_that_give_another_user_give_none(box: Sandbox) -> None:
    ran = await box.run("find / -xdev -perm -4000 -type f 2>/dev/null | head -5; grep NoNewPrivs /proc/self/status")
    assert ran.output.split()[-1] == "1"
    for program in ran.output.splitlines()[:-1]:
        assert (
            "uid=0" not in (await box.run(f"'{program}' -c id < /dev/null; '{program}' --help; id", timeout=10)).output
        )


# What is judged


@KEPT_IN
@pytest.mark.parametrize(
    "left",
    [
        "kill -9 -1",
        "chmod 000 .",
        "rm -rf * .[!.]*",
        "cd / && rm -rf /app /logs /tests 2>/dev/null",
        "mkfifo answer.txt",
        "ln -sf /dev/zero answer.txt",
        "ln -sf answer.txt answer.txt",
        "mkdir answer.txt",
        "seq 5000 | xargs touch",
        "touch \"$(printf 'n%.0s' {1..255})\" $'\\377' $'a\\nb'",
        "d=.; for i in {1..200}; do d=$d/deep; done; mkdir -p $d",
        "(setsid bash -c 'while true; do echo hello > answer.txt; rm answer.txt; done' > /dev/null 2>&1 &)",
    ],
)
async def test_whatever_is_left_is_judged_and_no_lost_trial(boxes: SandboxProvider, left: str, tmp_path: Path) -> None:
    task = make_task(tmp_path, toml="[verifier]\ntimeout_sec = 2\n")
    async with boxes.open(task.spec) as box:
        await box.run(left, timeout=20)
        assert (await judge(task, box, boxes)).score == 0 or "setsid" in left
