"""What only Docker has: images, labels, and containers without a python3."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import anyio
import pytest

from harness_eval import __version__
from harness_eval.errors import SandboxFailure, TaskFailure
from harness_eval.sandboxes import owner, provider
from harness_eval.sandboxes.base import BoxLimits, BoxSpec, Sandbox, SandboxProvider
from harness_eval.sandboxes.docker.shell import ShellBox
from tests.sandboxes.conftest import BASE_IMAGE, make

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

_STANDARD = "ARG BASE=python:3.12-bookworm\nFROM ${BASE}\nWORKDIR /app\nCOPY files/ /app/\n"
_DOCKERFILE = f"{_STANDARD}RUN echo built > /etc/built\n"


@pytest.fixture(scope="module")
def docker() -> SandboxProvider:
    return make("docker")


def _environment(folder: Path, text: str, dockerfile: str = _DOCKERFILE) -> Path:
    (folder / "files").mkdir(parents=True)
    (folder / "files" / "note").write_text(text)
    (folder / "Dockerfile").write_text(dockerfile)
    return folder


def _images(name: str) -> list[str]:
    return subprocess.check_output(["docker", "images", "--quiet", name], text=True).split()


def _labels(*words: str) -> list[str]:
    shown = "\t".join(f'{{{{.Label "harness-eval.{word}"}}}}' for word in words)
    arguments = ["docker", "ps", "--filter", "label=harness-eval=1", "--format", shown]
    return subprocess.check_output(arguments, text=True).splitlines()


@pytest.fixture
def remove_images() -> Iterator[Callable[[str], None]]:
    found: list[str] = []
    yield found.append
    for name in found:
        for image in 2 * _images(name):  # one may stand on another
            subprocess.run(["docker", "rmi", "--force", image], check=False, capture_output=True)


async def test_an_image_is_built_once_for_many_boxes_and_again_for_other_content(
    docker: SandboxProvider, tmp_path: Path, remove_images: Callable[[str], None], mark: str
) -> None:
    family = f"harness-eval-built-once-{mark}"
    remove_images(family)
    notes: list[str] = []

    async def one(environment: Path) -> None:
        async with docker.open(BoxSpec(f"Built once! {mark}", environment=environment)) as box:
            notes.append((await box.run("cat note /etc/built && echo more >> note && id -u")).output)

    first = _environment(tmp_path / "first", "first\n")
    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(one, first)
    assert notes == ["first\nbuilt\n1000\n"] * 4
    assert len(_images(family)) == 2  # what its Dockerfile makes, and the box's user on top
    await one(_environment(tmp_path / "second", "second\n"))
    assert notes[4] == "second\nbuilt\n1000\n"
    assert len(_images(family)) == 4


async def test_a_dockerfile_that_only_copies_and_sets_up_makes_no_image(
    docker: SandboxProvider, tmp_path: Path, mark: str
) -> None:
    environment = _environment(tmp_path, "copied\n", f"{_STANDARD}COPY setup.sh /s.sh\nRUN bash /s.sh && rm /s.sh\n")
    (environment / "setup.sh").write_text("id -u > made")
    async with docker.open(BoxSpec(f"standard-{mark}", environment=environment)) as box:
        assert (await box.run("cat note made; ls")).output == "copied\n1000\nmade\nnote\n"
    assert _images(f"harness-eval-standard-{mark}") == []


async def test_what_a_dockerfile_adds_to_any_base_is_judged_in_a_fresh_container(
    docker: SandboxProvider, tmp_path: Path, remove_images: Callable[[str], None], mark: str
) -> None:
    remove_images(f"harness-eval-added-{mark}")
    spec = BoxSpec(f"added-{mark}", environment=_environment(tmp_path, "from the image\n", _DOCKERFILE))
    async with docker.open(spec) as box:
        await box.run("rm note; echo mine > answer; touch /tmp/left")
        async with docker.seal(box, spec) as sealed:
            ran = await sealed.run("ls; cat answer /etc/built; ls /tmp; id -u")
            assert ran.output == "answer\nmine\nbuilt\n0\n"


async def test_a_dockerfile_that_does_not_build_is_the_tasks_fault_with_its_output(
    docker: SandboxProvider, tmp_path: Path
) -> None:
    broken = f"{_DOCKERFILE}RUN echo no flour left && false\n"
    spec = BoxSpec("broken", environment=_environment(tmp_path, "", broken))
    with pytest.raises(TaskFailure, match=r"(?s)broken: its image does not build.*no flour left"):
        async with docker.open(spec):
            pytest.fail("it opened")


async def test_a_dockerfile_that_cannot_be_read_is_the_tasks_fault(docker: SandboxProvider, tmp_path: Path) -> None:
    spec = BoxSpec("garbled", environment=_environment(tmp_path, "", "FORM x\n"))
    with pytest.raises(TaskFailure, match="garbled: its image does not build"):
        async with docker.open(spec):
            pytest.fail("it opened")


async def test_an_image_that_is_nowhere_is_a_failure_of_the_sandbox(docker: SandboxProvider) -> None:
    with pytest.raises(SandboxFailure, match="cannot be pulled"):
        async with docker.open(BoxSpec("lost", image="127.0.0.1:1/nowhere:1")):
            pytest.fail("it opened")


async def test_a_prebuilt_image_is_used_as_it_is(docker: SandboxProvider) -> None:
    before = _images("harness-eval-box")
    async with docker.open(BoxSpec("ready", image=BASE_IMAGE, workdir="/srv/x")) as box:
        assert (await box.run("pwd; touch mine; ls; id -u")).output == "/srv/x\nmine\n0\n"
    assert _images("harness-eval-box") == before


async def test_nothing_but_the_boxs_folders_can_be_written(docker: SandboxProvider) -> None:
    async with docker.open(BoxSpec("closed")) as box:
        ran = await box.run(
            'for d in /app /tmp /var/tmp "$HOME" /logs /tests /solution /run; do touch $d/x || echo $d; done'
        )
        assert ran.output == ""
        for folder in ("/", "/etc", "/usr/bin", "/var/lib"):
            assert (await box.run(f"touch {folder}/x")).exit_code != 0


async def test_a_disk_holds_all_files_of_the_working_directory_together(docker: SandboxProvider) -> None:
    async with docker.open(BoxSpec("small", limits=BoxLimits(disk_mb=1))) as box:
        ran = await box.run("head -c 700000 /dev/zero > one && head -c 700000 /dev/zero > two; cat one two | wc -c")
        assert "No space left" in ran.output
        assert 1_000_000 < int(ran.output.split()[-1]) <= 1 << 20


async def test_a_container_says_whose_it_is_and_what_it_is_for(docker: SandboxProvider) -> None:
    async with docker.open(BoxSpec("labelled", image=BASE_IMAGE)):
        assert f"{__version__}\tlabelled\tagent\t{owner.token()}" in _labels("version", "task", "role", "owner")


@pytest.fixture(scope="module")
def without_python() -> str:
    make("docker")
    image = "harness-eval-test-no-python"
    text = f"FROM {BASE_IMAGE}\nRUN rm -f /usr/bin/python3*\n"
    subprocess.run(["docker", "build", "--tag", image, "-"], input=text.encode(), check=True, capture_output=True)
    return image


@pytest.fixture(scope="module")
async def plain(without_python: str) -> AsyncIterator[Sandbox]:
    async with provider("docker", base_image=without_python).open(BoxSpec("plain")) as box:
        yield box


async def test_without_python_commands_run_in_a_shell_and_behave_alike(plain: Sandbox) -> None:
    assert isinstance(plain, ShellBox)
    ran = await plain.run('pwd; echo "$X" >&2; read -r y; id -u; exit 3', env={"X": "a b"}, cwd="/logs")
    assert (ran.output, ran.exit_code, ran.full_length) == ("/logs\na b\n1000\n", 3, 15)
    assert (await plain.run("pwd", cwd="/nowhere")).exit_code == 126


async def test_without_python_files_are_read_and_written(plain: Sandbox) -> None:
    data = bytes(range(256)) * 10_000
    await plain.write("deep/file", data)
    assert await plain.read("deep/file") == data
    for path, kind in (("nothing", FileNotFoundError), ("deep", IsADirectoryError), ("/etc/shadow", PermissionError)):
        with pytest.raises(kind):
            await plain.read(path)
    with pytest.raises(IsADirectoryError):
        await plain.write("deep", b"")
    with pytest.raises(PermissionError):
        await plain.write("/usr/new", b"")


async def test_without_python_a_folder_is_uploaded(plain: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "run.sh").write_text("echo ran")
    (tmp_path / "sub" / "run.sh").chmod(0o755)
    await plain.upload(tmp_path, "/tests")
    assert (await plain.run("/tests/sub/run.sh; stat -c %u /tests/sub/run.sh")).output == "ran\n1000\n"


async def test_without_python_a_time_out_kills_and_spares_earlier_services(
    plain: Sandbox, seen: Callable[..., list[str]], mark: str
) -> None:
    assert (await plain.run(f"sleep {mark}.1 & echo started")).output == "started\n"
    ran = await plain.run(f"echo early; setsid sleep {mark}.2 & sleep {mark}.2", timeout=1)
    assert (ran.output, ran.exit_code, ran.timed_out) == ("early\n", None, True)
    assert [line.strip() for line in seen(mark)] == [f"sleep {mark}.1"]


async def test_without_python_a_held_output_and_a_flood_do_not_hang(plain: Sandbox) -> None:
    ran = await plain.run("sleep 300 & echo started")
    assert (ran.output, ran.exit_code, ran.held) == ("started\n", 0, True)
    ran = await plain.run("yes abcdefgh | head -c 9000000")
    assert (ran.full_length, ran.output.startswith("abcdefgh\n")) == (9_000_000, True)
    assert len(ran.output) < 1_100_000


async def test_without_python_closing_ends_services(
    docker: SandboxProvider, without_python: str, seen: Callable[..., list[str]], mark: str
) -> None:
    async with docker.open(BoxSpec("closing", image=without_python, env={"LEVEL": "7"})) as box:
        assert (await box.run("id -u; echo $LEVEL")).output == "0\n7\n"
        await box.run(f"setsid sleep {mark} &")
        assert seen(mark) != []
    assert seen(mark) == []
