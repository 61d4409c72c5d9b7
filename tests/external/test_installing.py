from __future__ import annotations

import io
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from pathlib import Path

import pytest

from harness_eval.errors import ConfigError
from harness_eval.external import installing
from harness_eval.external.adapter import External, make_external
from harness_eval.external.installing import Installation, install, installed, uninstall
from harness_eval.types import Json

PROGRAM = "import os, subprocess, sys\nprint('hello from a wheel', os.environ.get('PYTHONPATH'))\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for installations, and no network to fill it from."""
    monkeypatch.setenv(installing.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("npm_config_offline", "true")
    return tmp_path / "cache"


def adapter(**wanted: Json) -> External:
    launch = {"command": ["greet", "{prompt}"]}
    return make_external(
        {"name": "greeter", "version": "1.0.0", "wire": "chat", "launch": launch, "install": wanted}, "t"
    )


def npm_package(folder: Path) -> str:
    """A package for npm with one program."""
    path = folder / "greeter-1.0.0.tgz"
    files = {
        "package.json": '{"name": "greeter", "version": "1.0.0", "bin": {"greet": "greet.js"}}',
        "greet.js": "#!/usr/bin/env node\nconsole.log('hello from npm')\n",
    }
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            about = tarfile.TarInfo(f"package/{name}")
            about.size, about.mode = len(text), 0o755
            archive.addfile(about, io.BytesIO(text.encode()))
    return path.as_uri()


def wheel(folder: Path) -> str:
    """A package for pip with one module."""
    path, about = folder / "greeter-1.0.0-py3-none-any.whl", "greeter-1.0.0.dist-info"
    files = {
        "greeter.py": PROGRAM,
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: greeter\nVersion: 1.0.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"])
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path.as_uri()


def visible(cache: Path) -> list[str]:
    return [path.name for path in cache.iterdir() if not path.name.endswith(".lock")]


needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
needs_python = pytest.mark.skipif(not Path(installing.PYTHON).exists(), reason=f"there is no {installing.PYTHON}")


@needs_npm
def test_a_package_from_npm_is_installed_found_and_removed(tmp_path: Path, cache: Path) -> None:
    external = adapter(npm={"greeter": npm_package(tmp_path)})
    made = install(external)
    assert made.new
    assert made.size > 0
    assert made.installed == installed(external)
    (folder,) = made.installed.path
    assert subprocess.check_output([f"{folder}/greet"], text=True) == "hello from npm\n"
    assert made.installed.folder
    assert made.installed.folder.stat().st_mode & 0o777 == 0o755
    assert not install(external).new
    assert uninstall(external)
    assert not uninstall(external)
    assert visible(cache) == []
    with pytest.raises(
        ConfigError, match="is not installed; install it with: harness-eval harness install PATH-OF-ITS-YAML-FILE"
    ):
        installed(external)


@needs_python
def test_commands_of_a_harness_do_not_find_its_python_packages(tmp_path: Path) -> None:
    made = install(adapter(pypi={"greeter": wheel(tmp_path)})).installed
    run = subprocess.check_output([installing.PYTHON, "-m", "greeter"], text=True, env=dict(made.env))
    assert run == "hello from a wheel None\n"


@needs_python
def test_two_at_once_install_once(tmp_path: Path, cache: Path) -> None:
    external = adapter(pypi={"greeter": wheel(tmp_path)})
    made: list[Installation] = []
    both = [threading.Thread(target=lambda: made.append(install(external))) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert sorted(each.new for each in made) == [False, True]
    assert len(visible(cache)) == 1


@needs_python
def test_an_installation_that_fails_leaves_nothing_and_says_what_the_installer_said(
    tmp_path: Path, cache: Path
) -> None:
    missing = (tmp_path / "greeter-1.0.0-py3-none-any.whl").as_uri()
    with pytest.raises(ConfigError, match=r"(?s)ended with exit code 1: .*greeter-1\.0\.0"):
        install(adapter(pypi={"greeter": missing}))
    assert visible(cache) == []


def test_a_missing_npm_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ConfigError, match="greeter: npm is not on PATH"):
        install(adapter(npm={"greeter": "1.0.0"}))


def test_a_missing_python_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "PYTHON", "/nowhere/python3")
    external = adapter(pypi={"greeter": "1.0.0"})
    with pytest.raises(ConfigError, match="greeter: /nowhere/python3 is missing"):
        install(external)
    with pytest.raises(ConfigError, match=r"greeter: version .* is not installed"):
        installed(external)
    assert not uninstall(external)


@needs_python
def test_a_package_for_a_newer_python_is_not_tried(cache: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"greeter: needs Python 9\.1 or newer; /usr/bin/python3, which runs harnesses"
    ):
        install(adapter(pypi={"greeter": "1.0.0"}, python="9.1"))
    assert not cache.exists()


def test_what_needs_no_package_is_there_already() -> None:
    assert installed(adapter()) == installing.Installed()
    assert not install(adapter()).new


def test_an_interrupted_installer_takes_with_it_what_it_started(tmp_path: Path) -> None:
    started = tmp_path / "started"
    script = f"sleep 600 & echo $! > {started}.new; mv {started}.new {started}; wait"
    told = f"from harness_eval.external import installing; installing._run(('sh', '-c', {script!r}))"
    with subprocess.Popen([sys.executable, "-c", told], stderr=subprocess.DEVNULL) as process:
        while not started.exists():
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.wait()
    left = Path("/proc", started.read_text().strip(), "stat")
    while left.exists() and ") Z " not in left.read_text():  # whoever takes orphans in may leave them lying
        time.sleep(0.02)
