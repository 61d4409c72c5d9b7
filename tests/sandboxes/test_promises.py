"""What every kind of sandbox promises: one suite for all."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from harness_eval.sandboxes.base import BoxSpec, Sandbox, SandboxProvider
from tests.sandboxes.conftest import KINDS, SHELL, is_there

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("boxes", [*KINDS, SHELL], indirect=True, scope="module")]


async def test_the_exit_code_is_the_commands(box: Sandbox) -> None:
    assert (await box.run("exit 7")).exit_code == 7


async def test_a_command_killed_by_a_signal_has_the_shells_code_for_it(box: Sandbox) -> None:
    assert (await box.run("kill -TERM $$")).exit_code == 128 + 15


async def test_output_and_errors_come_in_the_order_they_were_written(box: Sandbox) -> None:
    ran = await box.run("echo one; echo two >&2; echo three")
    assert (ran.output, ran.full_length, ran.held) == ("one\ntwo\nthree\n", 14, False)


async def test_commands_start_in_the_working_directory(box: Sandbox) -> None:
    assert (await box.run("pwd")).output == f"{box.workdir}\n"


async def test_a_command_can_be_given_another_directory_and_variables(box: Sandbox) -> None:
    await box.write("deep/er/x", b"")
    ran = await box.run('pwd; echo "$GREETING"', cwd="deep/er", env={"GREETING": "a b=c"})
    assert ran.output == f"{box.workdir}/deep/er\na b=c\n"


async def test_a_directory_that_is_missing_fails_the_command_alone(box: Sandbox) -> None:
    ran = await box.run("pwd", cwd="/no/such/place")
    assert (ran.exit_code, ran.timed_out) == (126, False)
    assert (await box.run("echo fine")).output == "fine\n"


async def test_nothing_of_our_environment_is_inherited(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_EVAL_SECRET_FOR_TESTS", "x")
    lines = (await box.run("env")).output.splitlines()
    names = {line.partition("=")[0] for line in lines}
    assert names <= {"PATH", "HOME", "LANG", "TERM", "PWD", "SHLVL", "_", "TMPDIR", "HOSTNAME"}
    assert {"LANG=C.UTF-8", "TERM=dumb"} <= set(lines)


async def test_home_is_a_folder_of_the_boxs_own(box: Sandbox) -> None:
    ran = await box.run('touch "$HOME/mine" && echo "$HOME"')
    assert ran.exit_code == 0
    assert ran.output.strip() != str(Path.home())


async def test_a_command_goes_before_its_supervisor_when_memory_runs_out(box: Sandbox) -> None:
    assert int((await box.run("cat /proc/self/oom_score_adj")).output) >= 500


async def test_each_command_gets_a_fresh_shell(box: Sandbox) -> None:
    await box.run("cd /; left=over")
    assert (await box.run('pwd; echo "[$left]"')).output == f"{box.workdir}\n[]\n"


async def test_files_are_written_and_read_by_relative_path_with_folders_made(box: Sandbox) -> None:
    await box.write("a/b/c.txt", b"text\n")
    assert await box.read("a/b/c.txt") == b"text\n"
    assert (await box.run("cat a/b/c.txt")).output == "text\n"


async def test_files_are_written_and_read_by_absolute_path(box: Sandbox) -> None:
    await box.write(f"{box.root}/logs/verifier/note", b"1")
    assert await box.read(f"{box.workdir}/../logs/verifier/note") == b"1"
    assert (await box.run(f"cat {box.root}/logs/verifier/note")).output == "1"


async def test_writing_replaces_what_was_there(box: Sandbox) -> None:
    await box.write("same", b"long long text")
    await box.write("same", b"short")
    assert await box.read("same") == b"short"


async def test_files_of_any_bytes_and_some_megabytes_survive(box: Sandbox) -> None:
    data = bytes(range(256)) * 20_000
    await box.write("big", data)
    assert await box.read("big") == data


async def test_a_missing_file_is_a_file_not_found(box: Sandbox) -> None:
    with pytest.raises(FileNotFoundError):
        await box.read("nothing-here")


async def test_a_folder_read_as_a_file_is_an_error_of_that_kind(box: Sandbox) -> None:
    await box.write("folder/file", b"")
    with pytest.raises(IsADirectoryError):
        await box.read("folder")
    with pytest.raises(IsADirectoryError):
        await box.write("folder", b"")


async def test_a_pipe_read_as_a_file_is_an_error_and_no_hang(box: Sandbox) -> None:
    await box.run("mkfifo pipe")
    with pytest.raises(OSError, match="regular"):
        await box.read("pipe")


async def test_a_file_too_large_to_hold_is_an_error(box: Sandbox) -> None:
    await box.run("truncate -s 1G sparse")
    with pytest.raises(OSError, match="larger"):
        await box.read("sparse")
    await box.run("rm sparse")


async def test_an_upload_keeps_folders_modes_links_and_bytes(box: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "sub" / "empty").mkdir(parents=True)
    (tmp_path / "sub" / "run.sh").write_text("echo ran")
    (tmp_path / "sub" / "run.sh").chmod(0o755)
    (tmp_path / "bytes").write_bytes(b"\xff\x00")
    (tmp_path / "link").symlink_to("bytes")
    await box.upload(tmp_path, "/tests")
    assert (await box.run(f"cd {box.root}/tests && ./sub/run.sh && readlink link && ls -A sub")).output == (
        "ran\nbytes\nempty\nrun.sh\n"
    )
    assert await box.read(f"{box.root}/tests/link") == b"\xff\x00"


async def test_uploading_a_folder_that_does_not_exist_is_an_error(box: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError):
        await box.upload(tmp_path / "nothing", "/tests")


async def test_a_program_that_asks_for_input_gets_its_end(box: Sandbox) -> None:
    ran = await box.run("read -r -p 'name: ' x; echo \"$?\"", timeout=20)
    assert (ran.output.endswith("1\n"), ran.timed_out) == (True, False)


async def test_output_that_is_no_text_is_replaced_and_counted(box: Sandbox) -> None:
    ran = await box.run(r"printf 'a\377\000b\303'")
    assert (ran.output, ran.full_length) == ("a\ufffd\0b\ufffd", 5)


async def test_characters_are_counted_not_bytes(box: Sandbox) -> None:
    ran = await box.run("printf 'äöü€'")
    assert (ran.output, ran.full_length) == ("äöü€", 4)


async def test_a_flood_of_output_is_bounded_and_counted_with_head_and_tail_kept(box: Sandbox) -> None:
    ran = await box.run("echo first; yes abcdefgh | head -c 90000000; echo last")
    assert ran.full_length == 90_000_011
    assert len(ran.output) < 1_100_000
    assert ran.output.startswith("first\nabcdefgh\n")
    assert ran.output.endswith("abcdefgh\nlast\n")
    assert "characters not kept" in ran.output


async def test_a_pipe_that_closes_early_ends_its_writer_in_silence(box: Sandbox) -> None:
    assert (await box.run("yes | head -n 1")).output == "y\n"


async def test_a_time_out_says_so_and_keeps_the_output_so_far(box: Sandbox) -> None:
    ran = await box.run("echo early; sleep 300; echo late", timeout=0.5)
    assert (ran.output, ran.exit_code, ran.timed_out) == ("early\n", None, True)


async def test_a_time_out_in_a_flood_ends_it(box: Sandbox) -> None:
    ran = await box.run("yes", timeout=0.5)
    assert ran.timed_out
    assert ran.full_length > len(ran.output) / 2


async def test_a_time_out_kills_grandchildren_that_left_the_session(
    box: Sandbox, seen: Callable[..., list[str]], mark: str
) -> None:
    command = f"setsid sleep {mark}.1 & (setsid env -i sleep {mark}.2 &) ; (trap '' TERM; sleep {mark}.3) & wait"
    assert (await box.run(command, timeout=0.7)).timed_out
    assert seen(mark) == []


async def test_a_time_out_spares_the_services_of_earlier_commands(box: Sandbox, mark: str) -> None:
    await box.run(f"(setsid sleep {mark} &); sleep {mark} &")
    assert (await box.run("sleep 300", timeout=0.3)).timed_out
    assert (await box.run(f"pgrep -fc '^sleep {mark}'; pkill -f '^sleep {mark}'")).output == "2\n"


async def test_a_background_process_that_holds_the_output_does_not_hold_the_command(box: Sandbox, mark: str) -> None:
    ran = await box.run(f"sleep {mark} & echo started", timeout=30)
    assert (ran.output, ran.exit_code, ran.timed_out, ran.held) == ("started\n", 0, False, True)
    await box.run(f"pkill -f '^sleep {mark}'")


async def test_a_service_serves_the_commands_after_it_and_may_go_on_writing(box: Sandbox) -> None:
    await box.write("served.txt", b"hello\n")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    await box.run(f"python3 -u -m http.server {port} --bind 127.0.0.1 & sleep 0.1")
    fetch = (
        'python3 -c "import time, urllib.request as u\nfor _ in range(200):\n  try: '
        f"print(u.urlopen('http://127.0.0.1:{port}/served.txt').read()); break\n  except OSError: time.sleep(.05)\""
    )
    for _ in range(3):
        assert (await box.run(fetch)).output == "b'hello\\n'\n"
    await box.run(f"pkill -f 'http.server {port}'")


async def test_cancelling_a_command_kills_it_and_leaves_the_box_usable(
    box: Sandbox, seen: Callable[..., list[str]], mark: str
) -> None:
    with anyio.move_on_after(0.5) as scope:
        await box.run(f"setsid sleep {mark} & sleep {mark}")
    assert scope.cancelled_caught
    assert seen(mark) == []
    assert (await box.run("echo usable")).output == "usable\n"


async def test_commands_of_one_box_queue_up(box: Sandbox) -> None:
    outputs = []

    async def one(number: int) -> None:
        outputs.append((await box.run(f"echo {number}")).output)

    async with anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(one, number)
    assert sorted(outputs) == [f"{number}\n" for number in range(5)]


async def test_a_command_with_bytes_no_shell_takes_fails_alone(box: Sandbox) -> None:
    assert (await box.run("echo a\0b")).exit_code == 126
    assert (await box.run("echo 'half a pair: \ud800'")).output == "half a pair: ?\n"
    assert (await box.run("x=" + "y" * 300_000)).exit_code == 126


async def test_closing_ends_services_and_leaves_no_folder(
    boxes: SandboxProvider, seen: Callable[..., list[str]], mark: str
) -> None:
    async with boxes.open(BoxSpec("closing")) as opened:
        await opened.run(f"(setsid sleep {mark} &); nohup sleep {mark} & mkdir -p x/y && chmod 0 x")
        assert len(seen(mark)) >= 2
    assert seen(mark) == []
    assert not is_there(opened.root or "/nowhere")


async def test_cancelling_an_open_box_leaves_nothing(
    boxes: SandboxProvider, seen: Callable[..., list[str]], mark: str
) -> None:
    with anyio.move_on_after(30) as scope:
        async with boxes.open(BoxSpec("cancelled")) as opened:
            await opened.run(f"sleep {mark} &")
            scope.cancel()
            await opened.run(f"sleep {mark}")
    assert scope.cancelled_caught
    assert seen(mark) == []
    assert not is_there(opened.root or "/nowhere")


async def test_many_boxes_work_side_by_side(boxes: SandboxProvider) -> None:
    outputs: dict[int, str] = {}

    async def one(number: int) -> None:
        async with boxes.open(BoxSpec(f"box-{number}")) as opened:
            await opened.write("n", str(number).encode())
            outputs[number] = (await opened.run("cat n; ls")).output

    async with anyio.create_task_group() as group:
        for number in range(6):
            group.start_soon(one, number)
    assert outputs == {number: f"{number}n\n" for number in range(6)}
