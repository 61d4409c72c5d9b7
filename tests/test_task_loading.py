"""What is read of a task's folder, and what its author is told when something in it is wrong."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from harness_eval.bundled import folder as bundled_folder
from harness_eval.errors import ConfigError
from harness_eval.sandboxes.base import BoxLimits, Healthcheck
from harness_eval.task import load_even_broken, load_suite, load_task

TOML = """
schema_version = "1.4"
source = "a key that we do not know"
[task]
name = "demo/greet"
[metadata]
difficulty = "easy"
stresses = ["exact-edit", "search"]
anything = 3
[agent]
timeout_sec = 90
user = "root"
[verifier]
timeout_sec = 20.5
user = 1001
env = { CHECK_LEVEL = "${HARNESS_EVAL_TEST_LEVEL:-high}" }
[environment]
docker_image = "example/greet:3"
cpus = 2
memory_mb = 300
storage_mb = 400
network_mode = "no-network"
workdir = "/srv"
env = { LANGUAGE = "en", NAME = "${HARNESS_EVAL_TEST_NAME}" }
build_timeout_sec = 30
a_key = "a nested one that we do not know"
healthcheck = { command = "test -e ready", retries = 2, interval_sec = 0.5 }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A task's folder, complete and small."""
    task = tmp_path / "demo" / "greet"
    for part in ("tests", "environment/files", "solution"):
        (task / part).mkdir(parents=True)
    (task / "task.toml").write_text("")
    (task / "instruction.md").write_text("Say hello.\n")
    (task / "tests" / "test.sh").write_text("true\n")
    return task


def test_every_part_of_the_file_arrives_in_the_task(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_EVAL_TEST_NAME", "Ada")
    (folder / "task.toml").write_text(TOML)
    task = load_task(folder)
    assert (task.name, task.suite, task.instruction) == ("greet", "demo", "Say hello.\n")
    assert (task.difficulty, task.stresses) == ("easy", ("exact-edit", "search"))
    assert (task.agent_timeout, task.verifier_timeout) == (90, 20.5)
    assert task.verifier_env == {"CHECK_LEVEL": "high"}
    assert task.unsupported is None
    assert task.spec.limits == BoxLimits(memory_mb=300, cpus=2, disk_mb=400, network=False)
    assert (task.spec.image, task.spec.workdir, task.spec.build_timeout) == ("example/greet:3", "/srv", 30)
    assert task.spec.env == {"LANGUAGE": "en", "NAME": "Ada"}
    assert task.spec.environment == folder / "environment"
    assert (task.spec.user, task.spec.verifier_user, task.spec.workdir_of_image) == ("root", "1001", False)
    assert task.spec.healthcheck == Healthcheck("test -e ready", interval=0.5, retries=2)


def test_an_empty_file_means_the_defaults_of_the_format(folder: Path) -> None:
    task = load_task(folder)
    assert (task.agent_timeout, task.verifier_timeout, task.difficulty) == (None, 600, "unknown")
    assert task.spec.limits == BoxLimits(network=True)
    assert task.spec.workdir == "/app"
    assert (task.spec.user, task.spec.verifier_user, task.spec.workdir_of_image) == (None, None, True)


@pytest.mark.parametrize(
    ("size", "megabytes"), [("2G", 2048), ("512M", 512), ("1.5 gb", 1536), ("2048K", 2), ("1GiB", 1024)]
)
def test_the_older_spelling_of_sizes_is_understood(folder: Path, size: str, megabytes: int) -> None:
    (folder / "task.toml").write_text(f'[environment]\nmemory = "{size}"\nstorage = "{size}"\n')
    limits = load_task(folder).spec.limits
    assert (limits.memory_mb, limits.disk_mb) == (megabytes, megabytes)


@pytest.mark.parametrize(
    ("keys", "open_network"),
    [
        ("allow_internet = false", False),
        ("allow_internet = true", True),
        ('network_mode = "public"\nallow_internet = false', True),
        ('network_mode = "no-network"', False),
    ],
)
def test_either_key_decides_about_the_network_and_the_newer_one_wins(
    folder: Path, keys: str, *, open_network: bool
) -> None:
    (folder / "task.toml").write_text(f"[environment]\n{keys}\n")
    assert load_task(folder).spec.limits.network is open_network


def test_the_working_directory_is_the_last_one_of_the_dockerfile(folder: Path) -> None:
    (folder / "environment" / "Dockerfile").write_text("FROM x\nWORKDIR /one\nRUN true\nworkdir /two/three\n")
    assert load_task(folder).spec.workdir == "/two/three"


def write(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


def remove(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink()


def not_utf8(folder: Path) -> None:
    (folder / "instruction.md").write_bytes(b"gr\xfc\xdfe")


BROKEN = [
    (remove("task.toml"), "task.toml: missing"),
    (remove("instruction.md"), "instruction.md: missing"),
    (remove("tests/test.sh"), "test.sh: missing"),
    (write("instruction.md", " \n"), "instruction.md: empty"),
    (not_utf8, "instruction.md: not UTF-8"),
    (write("task.toml", "[agent\n"), "task.toml: not valid TOML"),
    (write("task.toml", "agent = 3\n"), "task.toml: agent should be a valid dictionary"),
    (write("task.toml", '[agent]\ntimeout_sec = "10"\n'), "agent.timeout_sec should be a valid number, not '10'"),
    (write("task.toml", "[agent]\ntimeout_sec = 0\n"), "agent.timeout_sec should be greater than 0, not 0"),
    (write("task.toml", "[verifier]\nenv = { A = 1 }\n"), "verifier.env.A should be a valid string, not 1"),
    (write("task.toml", "[environment]\nmemory_mb = 1.5\n"), "environment.memory_mb should be a valid integer"),
    (write("task.toml", '[environment]\nmemory = "much"\n'), "environment.memory String should match"),
    (write("task.toml", '[environment]\nnetwork_mode = "off"\n'), "environment.network_mode should be 'public'"),
    (write("task.toml", '[environment]\nworkdir = "app"\n'), "environment.workdir"),
    (write("task.toml", '[metadata]\nstresses = "search"\n'), "metadata.stresses should be a valid list"),
    (write("task.toml", "[agent]\ntimeout_secs = 9\n"), "unknown key agent.timeout_secs; did you mean 'timeout_sec'"),
    (write("task.toml", "a = " + "[" * 9999), "task.toml: not valid TOML"),
    (lambda folder: os.mkfifo(folder / "tests" / "pipe"), "pipe: is neither a file, a folder nor a link"),
    (write("task.toml", "[environment]\ncpus = inf\n"), "environment.cpus"),
    (write("task.toml", "[agent]\ntimeout_sec = inf\n"), "agent.timeout_sec"),
    (write("task.toml", "[environment]\nstorage_mb = 99999999999\n"), "environment.storage_mb"),
]


@pytest.mark.parametrize(("spoil", "message"), BROKEN, ids=[message for _, message in BROKEN])
def test_a_broken_part_is_named_with_its_file(folder: Path, spoil: Callable[[Path], object], message: str) -> None:
    spoil(folder)
    with pytest.raises(ConfigError) as raised:
        load_task(folder)
    assert message in str(raised.value)
    assert str(folder) in str(raised.value)


def test_a_file_is_no_task(tmp_path: Path) -> None:
    (tmp_path / "greet").write_text("hello")
    with pytest.raises(ConfigError, match=r"task\.toml: cannot be read \(Not a directory\)"):
        load_task(tmp_path / "greet")


def test_an_empty_host_variable_counts_as_set_unless_there_is_a_default(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_EVAL_TEST_EMPTY", "")
    (folder / "task.toml").write_text(
        '[verifier.env]\nA = "${HARNESS_EVAL_TEST_EMPTY}"\nB = "${HARNESS_EVAL_TEST_EMPTY:-b}"\nC = "$HOME"\n'
    )
    assert load_task(folder).verifier_env == {"A": "", "B": "b", "C": "$HOME"}


def test_a_host_variable_is_not_shown_when_the_task_is_printed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_EVAL_TEST_TOKEN", "opensesame")
    for section in ("verifier", "environment", "solution"):
        (folder / "task.toml").write_text(f'[{section}.env]\nTOKEN = "${{HARNESS_EVAL_TEST_TOKEN}}"\n')
        assert "opensesame" not in repr(load_task(folder))


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (write("environment/docker-compose.yaml", "services: {}"), "docker-compose"),
        (write("task.toml", '[[steps]]\nname = "one"\n'), "several steps"),
        (lambda folder: (folder / "steps").mkdir(), "several steps"),
        (write("task.toml", "[environment]\ngpus = 2\n"), "2 GPU(s)"),
        (write("task.toml", '[environment]\nos = "windows"\n'), "'windows'"),
        (write("task.toml", '[verifier]\nenvironment_mode = "separate"\n'), "container of its own"),
        (write("task.toml", '[environment]\nnetwork_mode = "allowlist"\n'), "list of hosts"),
        (write("task.toml", '[environment]\nskills_dir = "/skills"\n'), "skills"),
        (write("trajectory.json", "[]"), "recorded trajectory"),
        (write("task.toml", 'schema_version = "2.0"\nagent = 3\n'), "version 2.0 of the format"),
        (write("task.toml", '[agent]\nnetwork_mode = "no-network"\n'), "network changes"),
        (write("task.toml", '[agent]\nnetwork_mode = "allowlist"\nallowed_hosts = ["a.b"]\n'), "list of hosts"),
        (write("task.toml", '[verifier]\nnetwork_mode = "public"\n[environment]\nallow_internet = false'), "changes"),
        (
            write("task.toml", '[verifier.env]\nA = "${HARNESS_EVAL_TEST_UNSET}"\n'),
            "HARNESS_EVAL_TEST_UNSET is not set",
        ),
        (write("task.toml", '[solution.env]\nA = "${HARNESS_EVAL_TEST_UNSET}"\n'), "(solution.env)"),
        (write("task.toml", '[[environment.mcp_servers]]\nname = "x"\n'), "MCP"),
    ],
)
def test_what_cannot_run_here_is_loaded_with_the_reason(
    folder: Path, spoil: Callable[[Path], object], reason: str
) -> None:
    spoil(folder)
    unsupported = load_task(folder).unsupported
    assert unsupported is not None
    assert reason in unsupported


def test_all_reasons_are_told_at_once(folder: Path) -> None:
    (folder / "task.toml").write_text('[environment]\ngpus = 1\nos = "windows"\nmcp_servers = [{ name = "x" }]\n')
    assert str(load_task(folder).unsupported).count(";") == 2


@pytest.mark.parametrize(
    "version", ['schema_version = "1.0"', 'schema_version = "1.12"', 'version = "1.0"', "version = 1", ""]
)
def test_every_version_of_the_first_format_is_known(folder: Path, version: str) -> None:
    (folder / "task.toml").write_text(f'{version}\n[task]\nversion = "7"\n[metadata]\ndifficulty = 3\n')
    task = load_task(folder)
    assert (task.unsupported, task.difficulty) == (None, "3")


def test_the_network_may_be_named_again_where_it_does_not_change(folder: Path) -> None:
    (folder / "task.toml").write_text('[agent]\nnetwork_mode = "public"\n[verifier]\nnetwork_mode = "public"\n')
    assert load_task(folder).unsupported is None


def test_the_first_generation_of_the_format_is_recognised(folder: Path) -> None:
    (folder / "task.toml").unlink()
    (folder / "task.yaml").write_text("instruction: Say hello.\n")
    assert "first generation" in str(load_task(folder).unsupported)
    assert [task.name for task in load_suite(folder.parent)] == ["greet"]


def test_a_task_of_several_steps_needs_no_instruction_of_its_own(folder: Path) -> None:
    (folder / "steps").mkdir()
    (folder / "instruction.md").unlink()
    assert load_task(folder).instruction == ""


def test_the_digest_follows_bytes_and_paths_and_ignores_caches(folder: Path) -> None:
    first = load_task(folder).digest
    (folder / "tests" / "__pycache__").mkdir()
    (folder / "tests" / "__pycache__" / "check.pyc").write_bytes(b"x")
    assert load_task(folder).digest == first
    added = folder / "environment" / "files" / "a.txt"
    added.write_text("1")
    second = load_task(folder).digest
    added.write_text("2")
    third = load_task(folder).digest
    added.rename(added.with_name("b.txt"))
    fourth = load_task(folder).digest
    assert len({first, second, third, fourth}) == 4
    added.with_name("b.txt").unlink()
    assert load_task(folder).digest == first


def test_names_that_are_no_text_count_in_the_digest(folder: Path) -> None:
    first = load_task(folder).digest
    name = os.fsencode(folder / "tests") + b"/gr\xfc\xdfe"
    Path(os.fsdecode(name)).write_text("hello")
    assert load_task(folder).digest != first


def test_links_count_by_where_they_point_and_loops_of_them_end(folder: Path) -> None:
    link = folder / "environment" / "files" / "again"
    digests = set()
    for target in ("..", "../..", "again", "/nowhere"):
        link.symlink_to(target)
        digests.add(load_task(folder).digest)
        link.unlink()
    assert len(digests) == 4


def test_a_part_that_is_a_link_to_a_folder_counts_with_what_is_in_it(folder: Path) -> None:
    shared = folder.parent / "shared"
    (folder / "tests").rename(shared)
    (folder / "tests").symlink_to("../shared")
    first = load_task(folder).digest
    (shared / "test.sh").write_text("echo changed\n")
    assert load_task(folder).digest != first


LOAD = "import sys; from harness_eval.task import load_task; from pathlib import Path; load_task(Path(sys.argv[1]))"


@pytest.mark.parametrize("closed", ["instruction.md", "tests", "environment/files", "solution/solve.sh", ""])
def test_what_cannot_be_read_is_named(folder: Path, closed: str) -> None:
    (folder / "solution" / "solve.sh").write_text("true\n")
    drop = ["setpriv", "--reuid", "65534", "--clear-groups"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as open_to_all:
        Path(open_to_all).chmod(0o755)
        task = shutil.copytree(folder, Path(open_to_all) / "task")
        (task / closed).chmod(0)
        done = subprocess.run([*drop, sys.executable, "-c", LOAD, task], capture_output=True, text=True, check=False)
        (task / closed).chmod(0o700)
    assert "errors.ConfigError" in done.stderr.splitlines()[-1]
    assert f"task/{closed}".rstrip("/") in done.stderr.splitlines()[-1]
    assert "cannot be read (Permission denied)" in done.stderr


def test_the_digest_does_not_depend_on_where_the_folder_is(folder: Path, tmp_path: Path) -> None:
    first = load_task(folder).digest
    moved = tmp_path / "elsewhere"
    folder.rename(moved)
    assert load_task(moved).digest == first


def test_a_suite_is_found_by_name_and_a_task_by_suite_and_name() -> None:
    core = load_suite("core")
    assert [task.name for task in core] == sorted(task.name for task in core)
    assert {task.suite for task in core} == {"core"}
    assert load_suite("core/log-root-cause") == tuple(task for task in core if task.name == "log-root-cause")


def test_a_suite_is_any_folder_of_tasks(folder: Path) -> None:
    (folder.parent / ".hidden").mkdir()
    assert [task.name for task in load_suite(folder.parent)] == ["greet"]
    assert [task.name for task in load_suite(str(folder))] == ["greet"]


def test_a_bundled_name_wins_over_a_folder_of_that_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.parent.rename(folder.parents[1] / "core")
    monkeypatch.chdir(folder.parents[1])
    assert load_suite("core")[0].folder.is_relative_to(bundled_folder("tasks"))
    assert [task.name for task in load_suite("./core")] == ["greet"]


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("cort", "did you mean 'core'?"),
        ("log-root-case", "did you mean 'log-root-cause'?"),
        ("zzz", "choices: core, starter"),
        ("core/log-root-case", "did you mean 'core/log-root-cause'?"),
    ],
)
def test_an_unknown_suite_is_answered_with_the_nearest_one(name: str, nearest: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load_suite(name)
    assert nearest in str(raised.value)


def test_a_mistyped_task_in_a_folder_of_the_users_is_answered_with_its_tasks(folder: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        load_suite(folder.parent / "gret")
    assert str(raised.value) == f"{folder.parent}: holds no task 'gret'; did you mean 'greet'? choices: greet"


def test_a_hint_names_the_nearest_of_many_choices() -> None:
    with pytest.raises(ConfigError) as raised:
        load_suite("core/log-root-case")
    choices = str(raised.value).partition("choices: ")[2].split(", ")
    assert choices[0] == "core/log-root-cause"
    assert len(choices) == 9
    assert choices[-1].endswith(" more")


def test_a_broken_task_stands_among_the_others_where_that_is_asked_for(folder: Path) -> None:
    shutil.copytree(folder, folder.with_name("spoilt"))
    (folder.with_name("spoilt") / "task.toml").write_text("[agent]\ntimeout_sec = 'soon'\n")
    with pytest.raises(ConfigError, match="timeout_sec"):
        load_suite(folder.parent)
    greet, spoilt = load_even_broken(folder.parent)
    assert (greet.name, greet.broken, spoilt.name) == ("greet", None, "spoilt")
    assert "agent.timeout_sec should be a valid number" in str(spoilt.broken)


def test_an_unknown_home_folder_is_one_line() -> None:
    with pytest.raises(ConfigError, match="~nosuchuser/x: no such user"):
        load_suite("~nosuchuser/x")


def test_what_stands_beside_the_tasks_is_passed_over_and_a_half_made_task_is_not(folder: Path) -> None:
    (folder.parent / "docs").mkdir()
    (folder.parent / "dataset.toml").write_text("")
    assert [task.name for task in load_suite(folder.parent)] == ["greet"]
    (folder.parent / "docs" / "instruction.md").write_text("Do it.\n")
    with pytest.raises(ConfigError, match=r"docs/task\.toml: missing"):
        load_suite(folder.parent)


def test_a_folder_without_tasks_is_no_suite(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no task"):
        load_suite(tmp_path)
