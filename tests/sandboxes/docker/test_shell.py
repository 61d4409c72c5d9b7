"""A shell as the first process of a box, whichever shell the image has."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from harness_eval.errors import SandboxFailure
from harness_eval.sandboxes import provider
from harness_eval.sandboxes.base import BoxSpec, Sandbox
from harness_eval.sandboxes.channel import Channel
from harness_eval.sandboxes.docker.shell import ShellBox
from harness_eval.sandboxes.docker.shell_program import Stream
from tests.sandboxes.shells import Shells

pytestmark = pytest.mark.anyio
_bubblewrap = pytest.mark.bubblewrap


@pytest.fixture(scope="module", params=["dash", "bash", "busybox"])
async def shell(request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    if not shutil.which(request.param):
        pytest.skip(f"{request.param} is not installed")
    async with Shells(request.param).open(BoxSpec("shell", env={"nonce": "theirs", "line": "b c"})) as box:
        yield box


@_bubblewrap
async def test_variables_named_like_the_programs_own_are_the_commands_own(shell: Sandbox) -> None:
    ran = await shell.run('echo "$nonce $line $token"; env | grep -c token', env={"token": "mine"})
    assert ran.output == "theirs b c mine\n1\n"


@_bubblewrap
async def test_a_file_that_bash_reads_first_is_read_still(shell: Sandbox) -> None:
    await shell.write("first", b"greeting=hello\n")
    ran = await shell.run('echo "$greeting $BASH_ENV $BOX_ENV"; env | grep -c BOX_', env={"BASH_ENV": "/app/first"})
    assert ran.output == "hello /app/first \n0\n"


@_bubblewrap
async def test_signals_have_their_default_in_a_command(shell: Sandbox) -> None:
    ignored = (await shell.run("grep SigIgn /proc/self/status")).output.split()[1]
    assert int(ignored, 16) & 0x7FFFFFFF == 0  # beyond the 31 named signals the C library has its own
    assert (await shell.run("timeout -s INT 0.1 sleep 20; echo $?")).output == "124\n"


@_bubblewrap
async def test_any_bytes_are_written_and_read_back(shell: Sandbox) -> None:
    for data in (b"", b"no end of line", bytes(range(256)) * 9000):
        await shell.write("some/file", data)
        assert await shell.read("some/file") == data
    assert (await shell.run("ls -A /tmp")).output == ""


@_bubblewrap
async def test_data_that_nobody_takes_is_no_request(shell: Sandbox) -> None:
    with pytest.raises(PermissionError):
        await shell.write("/usr/new", b"\n".join([b"x" * 50] * 500))
    assert (await shell.run("echo fine")).output == "fine\n"


@_bubblewrap
@pytest.mark.parametrize(
    ("command", "code"), [("kill -9 -1", 137), ("kill -9 $PPID", 137), ("kill 0", 143), ("kill -INT 1; kill -9 1", 0)]
)
async def test_a_command_that_kills_what_is_around_it_has_an_end(shell: Sandbox, command: str, code: int) -> None:
    ran = await shell.run(command, timeout=20)
    assert (ran.exit_code == code or command == "kill -9 -1", ran.timed_out) == (True, False)
    assert (await shell.run("echo fine")).output == "fine\n"


@_bubblewrap
async def test_a_command_that_stops_all_is_ended_at_its_time(shell: Sandbox) -> None:
    assert (await shell.run("kill -STOP -1; sleep 60", timeout=0.5)).timed_out
    assert (await shell.run("echo fine")).output == "fine\n"


@_bubblewrap
async def test_orphans_are_reaped(shell: Sandbox) -> None:
    for _ in range(3):
        await shell.run("for i in 1 2 3 4 5 6 7 8; do (setsid true &); done")
    count = await shell.run("sleep 0.1; grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l")
    assert int(count.output) <= 12


@_bubblewrap
async def test_ending_all_processes_leaves_the_shell_alone(
    shell: Sandbox, seen: Callable[..., list[str]], mark: str
) -> None:
    await shell.run(f"(setsid sleep {mark} &); sleep {mark} &")
    await shell.end_processes()
    assert seen(mark) == []
    assert (await shell.run("echo fine")).output == "fine\n"


_BUSYBOX = """FROM scratch
COPY busybox /bin/busybox
RUN ["/bin/busybox", "mkdir", "-p", "/etc", "/usr", "/tmp"]
RUN ["/bin/busybox", "--install", "/bin"]
"""


@pytest.fixture
def busybox_image(tmp_path: Path) -> str:
    found = shutil.which("busybox")
    if not found or b"/ld-" in Path(found).read_bytes()[:4096]:  # the name of what would load its libraries
        pytest.skip("there is no busybox that needs no libraries: install the package busybox-static")
    shutil.copy(found, tmp_path / "busybox")
    (tmp_path / "Dockerfile").write_text(_BUSYBOX)
    name = "harness-eval-test-busybox"
    subprocess.run(["docker", "build", "--tag", name, tmp_path], check=True, capture_output=True)
    return name


@pytest.mark.docker
async def test_an_image_of_nothing_but_busybox_has_a_box_that_works(
    busybox_image: str, tmp_path: Path, seen: Callable[..., list[str]], mark: str
) -> None:
    async with provider("docker").open(BoxSpec("busybox", image=busybox_image)) as box:
        data = bytes(range(256)) * 9000
        await box.write("deep/file", data)
        assert await box.read("deep/file") == data
        (tmp_path / "sub").mkdir()
        (tmp_path / "sub" / "link").symlink_to("gone")
        await box.upload(tmp_path / "sub", "/tests")
        assert (await box.run("echo hi; readlink /tests/link; exit 3")).output == "hi\ngone\n"
        ran = await box.run(f"(setsid sleep {mark} &); sleep {mark}", timeout=0.7)
        assert (ran.timed_out, seen(mark)) == (True, [])
        assert (await box.run("sleep 300 & echo started")).held
        await box.end_processes()
        assert (await box.run("yes | head -c 9000000 | wc -c")).output == "9000000\n"


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_marks_are_found_however_the_stream_is_cut(size: int) -> None:
    output = bytearray()
    stream = Stream(output.extend)
    nonce = stream.nonce.encode()
    data = nonce + b"relay 1 2\nabc" + nonce[:9] + b"\n" + nonce + b"code 3\nlate" + nonce + b"end\n"
    for at in range(0, len(data), size):
        stream.feed(data[at : at + size])
    assert bytes(output) == b"abc" + nonce[:9] + b"\nlate"
    assert stream.marks == {"relay": ["1", "2"], "code": ["3"], "end": []}


async def test_a_shell_that_has_died_is_a_failure_and_stays_one() -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    box = ShellBox(Channel(ours), "/app")
    theirs.close()
    for _ in range(2):
        with pytest.raises(SandboxFailure, match="takes no request"):
            await box.run("true")
    box._channel.close()
