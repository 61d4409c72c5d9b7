"""The import contracts, and what the command line may import before a command is chosen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SLOW = {
    "aiohttp",
    "covertable",
    "datasets",
    "docker",
    "litellm",
    "matplotlib",
    "numpy",
    "openai",
    "pandas",
    "pydoe",
    "scipy",
}


def test_imports_point_one_way() -> None:
    linter = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_help_imports_no_slow_library() -> None:
    program = "import sys\nfrom harness_eval.cli import main\ntry:\n main(['--help'])\nexcept SystemExit:\n pass\n"
    program += "print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not SLOW & set(done.stdout.split())
