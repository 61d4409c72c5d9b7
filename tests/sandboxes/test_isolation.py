"""What bubblewrap and Docker keep in: the host's files and network, privileges, memory, processes, disk."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from harness_eval.sandboxes.base import BoxLimits, BoxSpec, Sandbox, SandboxProvider
from tests.sandboxes.conftest import ISOLATED, SHELL, names

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("boxes", [*ISOLATED, SHELL], indirect=True, scope="module")]

_TIGHT = BoxLimits(memory_mb=64, pids=40, cpus=0.5, disk_mb=32)


@pytest.fixture(scope="module")
async def tight(boxes: SandboxProvider) -> AsyncIterator[Sandbox]:
    async with boxes.open(BoxSpec("tight", limits=_TIGHT)) as opened:
        yield opened


async def test_there_is_no_network_but_the_boxs_own(box: Sandbox) -> None:
    ran = await box.run("tail -n +3 /proc/net/dev | grep -v '^ *lo:' | grep -vE '^ *(tunl|sit|ip6tnl|gre|erspan|ip_)'")
    assert ran.output == ""
    connect = "python3 -c \"import socket; socket.create_connection(('192.0.2.1', 80), 5)\""
    assert "unreachable" in (await box.run(connect)).output


async def test_the_hosts_loopback_is_not_the_boxs(box: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ran = await box.run(f"exec 3<>/dev/tcp/127.0.0.1/{port}")
    assert "refused" in ran.output


async def test_the_user_is_unprivileged(box: Sandbox) -> None:
    ran = await box.run("id -u; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status | tr -s '\\t' ' '")
    assert ran.output == "1000\nCapEff: 0000000000000000\nCapBnd: 0000000000000000\nNoNewPrivs: 1\n"
    assert (await box.run("cat /etc/shadow")).exit_code != 0
    assert (await box.run("touch /usr/bin/new")).exit_code != 0


async def test_no_user_namespace_gives_privileges_back(box: Sandbox) -> None:
    assert (await box.run("unshare --user --map-root-user true")).exit_code != 0


async def test_the_first_process_of_a_box_cannot_be_killed_from_inside(box: Sandbox) -> None:
    await box.run("kill -9 1; kill -TERM 1; kill -INT 1; kill -HUP 1; kill -9 -1")
    assert (await box.run("echo alive")).output == "alive\n"


async def test_the_connection_to_the_supervisor_cannot_be_written_from_inside(box: Sandbox) -> None:
    await box.run("echo junk > /proc/1/fd/1; echo junk > /proc/1/fd/0; echo junk > /proc/1/fd/2")
    assert (await box.run("echo alive")).output == "alive\n"


async def test_the_hosts_home_and_folders_are_not_there(box: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("host")
    for path in (secret, Path.home() / ".bashrc", Path(__file__)):
        with pytest.raises((FileNotFoundError, PermissionError)):
            await box.read(str(path))
        assert (await box.run(f"cat '{path}'")).exit_code != 0


async def test_links_out_of_the_workspace_reach_no_host_file(box: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("host")
    await box.run(f"ln -s '{secret}' link; ln -s '{tmp_path}' folder")
    with pytest.raises(FileNotFoundError):
        await box.read("link")
    with pytest.raises(OSError, match=r"exists|No such file"):
        await box.write("folder/new", b"x")
    assert names(tmp_path) == ["secret"]
    assert secret.read_text() == "host"


async def test_an_upload_through_a_planted_link_stays_inside(box: Sandbox, tmp_path: Path) -> None:
    source, outside = tmp_path / "source", tmp_path / "outside"
    source.mkdir()
    outside.mkdir()
    (source / "file").write_text("x")
    await box.run(f"ln -s '{outside}' planted")
    with pytest.raises(OSError, match=r"exists|No such file"):
        await box.upload(source, f"{box.workdir}/planted")
    assert names(outside) == []


async def test_the_verifiers_files_appear_only_when_uploaded(box: Sandbox) -> None:
    assert (await box.run("ls -A /tests /solution 2>/dev/null")).output.replace("/tests:", "").split() in (
        [],
        ["/solution:"],
    )


async def test_processes_of_the_host_are_not_seen(box: Sandbox) -> None:
    assert int((await box.run("ls -d /proc/[0-9]* | wc -l")).output) < 12
    assert (await box.run(f"kill -0 {os.getpid()}")).exit_code != 0


async def test_a_fork_bomb_is_contained_and_killed(tight: Sandbox) -> None:
    ran = await tight.run("bomb() { bomb | bomb & }; bomb; sleep 60", timeout=2)
    assert ran.timed_out
    assert "Resource temporarily unavailable" in ran.output
    assert int((await tight.run("ls -d /proc/[0-9]* | wc -l")).output) < 8


async def test_a_memory_hog_is_killed_and_the_box_goes_on(tight: Sandbox) -> None:
    ran = await tight.run("python3 -c 'x = bytearray(400 << 20); print(len(x))'")
    assert ran.exit_code != 0  # killed, or refused the memory where no control group can be made
    assert str(400 << 20) not in ran.output
    assert (await tight.run("echo alive")).output == "alive\n"


async def test_filling_the_disk_fails_the_command_alone(tight: Sandbox) -> None:
    ran = await tight.run("head -c 200000000 /dev/zero > filling; echo $?")
    assert ran.output.splitlines()[-1] != "0"
    size = int((await tight.run("stat -c %s filling; rm filling")).output)
    assert size <= 32 << 20
    assert (await tight.run("echo alive > note; cat note")).output == "alive\n"


async def test_a_write_beyond_the_disk_is_an_os_error(tight: Sandbox) -> None:
    with pytest.raises(OSError, match=r"No space|too large"):
        await tight.write("filling", b"x" * (40 << 20))
    await tight.write("filling", b"")
    assert (await tight.run("echo alive")).output == "alive\n"


async def test_processor_time_is_shared_out(boxes: SandboxProvider, tight: Sandbox) -> None:
    if "processor time" not in boxes.promises:
        pytest.skip("no control group can be made here")
    burn = "import time; end = time.monotonic() + 1\nwhile time.monotonic() < end: pass\nprint(time.process_time())"
    assert float((await tight.run(f'python3 -c "{burn}"')).output) < 0.8


_STEAL = """
import ctypes, os
get = ctypes.CDLL(None, use_errno=True).syscall
handle = get(434, 1, 0)
print('taken' if handle >= 0 and get(438, handle, 1, 0) >= 0 else 'refused')
"""


async def test_the_connection_of_the_supervisor_cannot_be_taken_from_inside(box: Sandbox) -> None:
    await box.write("steal.py", _STEAL.encode())
    assert (await box.run("python3 steal.py")).output == "refused\n"
