"""Choosing a kind of sandbox by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from harness_eval.errors import ConfigError
from harness_eval.sandboxes import provider
from harness_eval.sandboxes.bubblewrap import BubblewrapProvider


def test_an_unknown_kind_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'docker'"):
        provider("dockr")


def test_an_unknown_option_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'base_image'"):
        provider("docker", base_imge="x")


def test_an_option_of_another_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match="belongs to docker"):
        provider("local", base_image="x")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "http://[", "tcp://127.0.0.1:99999", "fd://", "nonsense"])
def test_docker_without_an_engine_says_how_to_start_one(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("DOCKER_HOST", address)
    with pytest.raises(ConfigError, match=r"systemctl start docker"):
        provider("docker")


def test_bubblewrap_that_is_not_installed_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness_eval.sandboxes.bubblewrap.STANDARD_PATH", "/nonexistent")
    with pytest.raises(ConfigError, match="install the package bubblewrap"):
        provider("bubblewrap")


def test_auto_is_local_where_bubblewrap_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness_eval.sandboxes.bubblewrap.STANDARD_PATH", "/nonexistent")
    assert provider("auto").name == "local"


@pytest.mark.bubblewrap
def test_auto_is_bubblewrap_where_it_works() -> None:
    if reason := BubblewrapProvider().unavailable():
        pytest.skip(reason)
    assert provider("auto").name == "bubblewrap"


def test_local_says_what_it_does_not_limit() -> None:
    assert "no limit on memory" in provider("local").promises


def test_the_docker_library_stays_unloaded_until_it_is_needed() -> None:
    check = "import sys, harness_eval.sandboxes; print('docker' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", check], text=True) == "False\n"
