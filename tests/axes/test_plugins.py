"""A level from a module outside of the package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PLUGIN = '''
from harness_eval.axes import Truncation

class FirstLine(Truncation):
    """Only the first line of a result."""

    marker: str = ""

    def cut(self, text: str, spill_path: str = "") -> str:
        """The first line."""
        return text.split("\\n", 1)[0] + self.marker
'''
PROGRAM = """
import json
from harness_eval.harness import make_harness
harness = make_harness({"name": "x", "truncation": {"level": "first-line", "marker": "!"}}, "x")
print(json.dumps([harness.labels["truncation"], harness.truncation.cut("a\\nb")]))
"""


def _run(folder: Path, plugins: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder), "HARNESS_EVAL_PLUGINS": plugins}
    return subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)


def test_a_level_from_a_plugin_module_is_used_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "my_levels.py").write_text(PLUGIN)
    done = _run(tmp_path, "my_levels")
    assert json.loads(done.stdout) == ["first-line(marker=!)", "a!"], done.stderr


def test_a_plugin_that_cannot_be_imported_is_named(tmp_path: Path) -> None:
    done = _run(tmp_path, "no_such_module")
    assert "HARNESS_EVAL_PLUGINS: the plugin 'no_such_module' cannot be imported" in done.stderr
