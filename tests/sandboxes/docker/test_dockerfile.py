"""Which Dockerfiles ask for nothing but what every sandbox does."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_eval.sandboxes.base import BoxSpec
from harness_eval.sandboxes.docker.dockerfile import instructions, origin

_HEAD = "ARG BASE=python:3.12-bookworm\nFROM ${BASE}\nWORKDIR /app\n"


def _origin(folder: Path, text: str | None, **spec: str) -> str:
    if text is not None:
        (folder / "Dockerfile").write_text(text)
    return origin(BoxSpec("task", environment=folder, **spec))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        None,
        _HEAD,
        f"# syntax=docker/dockerfile:1\n\n{_HEAD}COPY files/ /app/\n",
        f"{_HEAD}copy files/ .\n",
        "ARG BASE\nFROM $BASE\nCOPY files/ /app\n",
        f"{_HEAD}COPY files/ /app/\nCOPY setup.sh /tmp/setup.sh\nRUN bash /tmp/setup.sh && rm /tmp/setup.sh\n",
        f"{_HEAD}COPY setup.sh /tmp/setup.sh\nRUN  bash \\\n   # between\n  /tmp/setup.sh \\\n  && rm -f /tmp/setup.sh",
    ],
)
def test_files_and_setup_on_any_base_need_no_image(tmp_path: Path, text: str | None) -> None:
    assert _origin(tmp_path, text) == "plain"


@pytest.mark.parametrize(
    "text",
    [
        f"{_HEAD}RUN apt-get install jq\n",
        f"{_HEAD}ENV LEVEL=7\n",
        f"{_HEAD}COPY files/ /srv/\n",
        f"{_HEAD}COPY other/ /app/\n",
        f"{_HEAD}COPY setup.sh /tmp/setup.sh\nRUN bash /tmp/other.sh\n",
        f"{_HEAD}COPY setup.sh /tmp/setup.sh\nRUN bash /tmp/setup.sh && touch /etc/x\n",
        f"{_HEAD}COPY setup.sh /tmp/setup.sh\nRUN bash /tmp/setup.sh && rm /tmp/setup.sh && touch /etc/x\n",
        "ARG BASE\nFROM ${BASE}\nWORKDIR /srv\n",
        "ARG BASE\nFROM ${BASE} AS first\nFROM ${BASE}\n",
    ],
)
def test_whatever_else_is_done_to_any_base_is_built(tmp_path: Path, text: str) -> None:
    assert _origin(tmp_path, text) == "built"


@pytest.mark.parametrize("text", ["FROM node:22\n", "FROM ${BASE}\nFROM node:22\n", "", "RUN true\n", "FROM\n"])
def test_another_base_is_an_image_of_the_tasks_own(tmp_path: Path, text: str) -> None:
    assert _origin(tmp_path, text) == "own"


def test_a_prebuilt_image_is_the_tasks_own(tmp_path: Path) -> None:
    assert _origin(tmp_path, _HEAD, image="debian:12") == "own"


def test_the_root_folder_as_working_directory_is_built(tmp_path: Path) -> None:
    assert _origin(tmp_path, None, workdir="/") == "built"


def test_instructions_are_joined_and_tidied() -> None:
    assert list(instructions("from  x\n#no\n run a \\\n# no\n  b\n\nRUN c\\")) == ["FROM x", "RUN a b", "RUN c"]
