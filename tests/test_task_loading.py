"""What is read of a task's folder, and what its author is told when something in it is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness_eval.bundled import folder as bundled_folder
from harness_eval.errors import ConfigError
from harness_eval.sandboxes.base import BoxLimits
from harness_eval.task import load_suite, load_task

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
[verifier]
timeout_sec = 20.5
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
skills_dir = "a nested key that we do not know"
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


def test_an_empty_file_means_the_defaults_of_the_format(folder: Path) -> None:
    task = load_task(folder)
    assert (task.agent_timeout, task.verifier_timeout, task.difficulty) == (None, 600, "unknown")
    assert task.spec.limits == BoxLimits(network=True)
    assert task.spec.workdir == "/app"


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
    (write("task.toml", 'schema_version = "2.0"\n'), "schema_version"),
    (write("task.toml", "[agent]\ntimeout_secs = 9\n"), "unknown key agent.timeout_secs; did you mean 'timeout_sec'"),
    (write("task.toml", '[verifier.env]\nA = "${HARNESS_EVAL_TEST_UNSET}"\n'), "HARNESS_EVAL_TEST_UNSET is not set"),
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
        (write("task.toml", '[environment.healthcheck]\ncommand = "true"\n'), "health check"),
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
    [("cort", "did you mean 'core'?"), ("core/log-root-case", "did you mean 'core/log-root-cause'?")],
)
def test_an_unknown_suite_is_answered_with_the_nearest_one(name: str, nearest: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load_suite(name)
    assert nearest in str(raised.value)


def test_a_folder_without_tasks_is_no_suite(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no task"):
        load_suite(tmp_path)
