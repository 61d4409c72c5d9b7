"""Reports of a run, made again from its folder at any time: Markdown, HTML and JSON with the same numbers.

`compare` does the same for two runs, paired by task and harness.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from harness_eval.report.wording import printable
from harness_eval.types import Json

__all__ = [
    "build",
    "check_text",
    "compare",
    "comparison_text",
    "compat_text",
    "github_check",
    "github_refused",
    "summary_text",
    "update_compat",
    "write",
    "write_check",
    "write_comparison",
    "write_compat",
]


def build(folder: Path) -> dict[str, Json]:
    """The content of report.json for a run's folder; proportions are 0..1, what is unknown is None.

    Raises:
        ConfigError: if the folder holds no readable study.json.
    """
    from harness_eval.report import content  # lazy: slow import

    return content.build(folder)


def write(folder: Path) -> dict[str, Json]:
    """Write report.md, report.html and report.json into the run's folder, each whole or not at all.

    Returns the content of report.json.

    Raises:
        ConfigError: if the folder holds no readable study.json, or cannot be written.
    """
    from harness_eval.report import files  # lazy: slow import

    return files.write(folder)


def summary_text(data: Mapping[str, Json], run: str | Path = "RUN") -> str:
    """The content of report.json as plain text for a terminal; `run` is the run's folder, for the commands it names."""
    from harness_eval.report import terminal  # lazy: slow import

    return terminal.summary_text(data, shell_name(run))


def shell_name(run: str | Path) -> str:
    """A run's folder as a command line can name it."""
    return printable(shlex.quote(str(run)))


def compare(before: str, after: str, *, endpoint: str | None = None, ignore_versions: bool = False) -> dict[str, Json]:
    """The content of comparison.json for two runs, each a folder or `FOLDER:ENDPOINT`; changes are after less before.

    `endpoint` is meant where a run names none. What has the same name and not the same content is left out, with the
    reason in `left_out`, unless `ignore_versions`.

    Raises:
        ConfigError: no readable run, no such endpoint, or no cell in which both runs have a verdict.
    """
    from harness_eval.report import comparison, comparison_pairing  # lazy: slow import

    first, second = (comparison_pairing.chosen(run, endpoint) for run in (before, after))
    return comparison.build(comparison_pairing.pair(first, second, ignore_versions=ignore_versions))


def comparison_text(data: Mapping[str, Json]) -> str:
    """The content of comparison.json as plain text for a terminal."""
    from harness_eval.report import comparison_terminal  # lazy: slow import

    return comparison_terminal.comparison_text(data)


def write_comparison(data: Mapping[str, Json], folder: Path) -> None:
    """Write comparison.md, comparison.html and comparison.json into a folder, each whole or not at all.

    Raises:
        ConfigError: the folder cannot be written.
    """
    from harness_eval.report import comparison_files  # lazy: slow import

    comparison_files.write(data, folder)


def check_text(data: Mapping[str, Json]) -> str:
    """The content of check.json as plain text for a terminal or a log."""
    from harness_eval.report import check_terminal  # lazy: slow import

    return check_terminal.check_text(data)


def write_check(data: Mapping[str, Json], folder: Path) -> None:
    """Write check.json, check.md, junit.xml and badge.json into a folder, each whole or not at all.

    Raises:
        ConfigError: the folder cannot be written.
    """
    from harness_eval.report import check_files  # lazy: slow import

    check_files.write(data, folder)


def github_check(data: Mapping[str, Json], environ: Mapping[str, str]) -> str:
    """The annotations of a check, to be printed in a step of GitHub Actions; summary and outputs go where it says.

    Files that `environ` does not name are not written.

    Raises:
        ConfigError: a file that it names cannot be written.
    """
    from harness_eval.report import check_github  # lazy: slow import

    return check_github.github(data, environ)


def github_refused(reason: str) -> str:
    """The annotation of a check that could not be made, to be printed."""
    from harness_eval.report import check_github  # lazy: slow import

    return check_github.refused(reason)


def compat_text(data: Mapping[str, Json]) -> str:
    """The content of compatibility.json as plain text for a terminal."""
    from harness_eval.report import compat_terminal  # lazy: slow import

    return compat_terminal.compat_text(data)


def write_compat(data: Mapping[str, Json], folder: Path) -> None:
    """Write compatibility.json, .md, .html and .csv into a folder, each whole or not at all.

    Raises:
        ConfigError: the folder cannot be written.
    """
    from harness_eval.report import compat_files  # lazy: slow import

    compat_files.write(data, folder)


def update_compat(data: Mapping[str, Json], path: Path) -> None:
    """Bring a Markdown file up to date between its two marker lines, and the document beside it (same stem, .json).

    A file that does not exist is made. Nothing else in it changes, and nothing where only the time would.

    Raises:
        ConfigError: the file does not have each marker once, in order; or it cannot be read or written.
    """
    from harness_eval.report import compat_files  # lazy: slow import

    compat_files.update(data, path)
