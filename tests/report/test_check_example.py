"""The example of a check in reports/example/check: its forms are what today's code makes of its check.json.

`python -m tests.report.test_check_example` makes the forms anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness_eval.gate.document import Check
from harness_eval.report import check_text, write_check
from harness_eval.report.check_files import FILES

EXAMPLE = Path(__file__).resolve().parents[2] / "reports" / "example" / "check"


def written(folder: Path) -> None:
    data: dict[str, Any] = json.loads((EXAMPLE / "check.json").read_bytes())
    write_check(Check.model_validate(data).model_dump(mode="json", by_alias=True), folder)
    (folder / "check.txt").write_text(check_text(data), encoding="utf-8")


def test_the_example_is_what_todays_code_makes_of_it(tmp_path: Path) -> None:
    written(tmp_path)
    for name in (*FILES, "check.txt"):
        assert (EXAMPLE / name).read_text() == (tmp_path / name).read_text(), f"{name}: see this module's first lines"


if __name__ == "__main__":
    written(EXAMPLE)
