"""Was net_total renamed everywhere, and nothing else?"""

import ast
import contextlib
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

BYTES, SECONDS = 4_000_000, 20  # what one run of the solver's code may write and take
LIMITS = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({BYTES}, {BYTES}))\n"


def content(name: str) -> bytes:
    """The bytes of a plain file of reasonable size; none for anything else."""
    path = Path(name)
    try:
        return path.read_bytes() if path.is_file() and path.stat().st_size <= BYTES else b""
    except (OSError, ValueError):
        return b""


def copied(names: Iterable[str]) -> str:
    """A folder with copies of these files of the working directory, open to the user who runs the solver's code."""
    os.umask(0)
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content(name))
    return str(folder)


def answers(program: str, asked: object, folder: str) -> Any:
    """What the solver's code makes of hidden inputs: the JSON in the last line that its process prints, else None."""
    command = [*shlex.split(os.environ.get("AS_SOLVER", "")), "python3", "-EsB", "-c", LIMITS + program]
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as shown:
        given.write(json.dumps(asked).encode())
        given.seek(0)
        process = subprocess.Popen(
            command, cwd=folder, stdin=given, stdout=shown, stderr=subprocess.DEVNULL, start_new_session=True
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS)
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        shown.seek(0)
        try:
            return json.loads(shown.read().decode().splitlines()[-1])
        except (ValueError, IndexError, RecursionError):
            return None

UNTOUCHED = {
    "orders/lines.py": "a015f8fafb34a7b02181b7ec185df13c7e82943415bb696c8b20ccd36977195d",
    "orders/shipping.py": "3f7aafeef7dbe8f0bc179480b7f873cd5d3efbe7672b8fd91e34dfa1f1dca290",
    "docs/glossary.md": "7340880b096feb8e9fa861c8077d7a3ad2e6df77ab51b9ccf9343da50a3860ed",
}
SELFTEST = "b7acc80ef98a41378b831cd25e4c9475217e3e84d1f592dfa4719a122c1f8792"
PROBE = """
import importlib, json, sys
sys.path.insert(0, ".")
import orders
from orders import export, lines, pricing, shipping
modules = [orders, export, lines, pricing, shipping]
order = orders.Order("n", (orders.Line("a", 3, 1999, 700), orders.Line("b", 1, 455, 5, "B")), rebate=13, paid=250)
print(json.dumps({
    "left": [m.__name__ for m in modules if hasattr(m, "net_total")],
    "exported": sorted(orders.__all__),
    "due": [orders.amount_due(order), pricing.amount_due(order)],
    "small": pricing.amount_due(orders.Order("n", (orders.Line("a", 1, 100, 1),), 0, 500)),
    "weight": pricing.net_total_weight(order),
    "zone": orders.subnet_total(order, "B"),
    "invoice": json.loads(export.invoice(order)),
    "postage": shipping.postage(order),
}))
"""
EXPECTED = {
    "left": [],
    "exported": ["Line", "Order", "amount_due", "net_total_weight", "subnet_total"],
    "due": [5363, 5363],
    "small": 0,
    "weight": 2105,
    "zone": 455,
    "invoice": {"gross_total": 6452, "net_total": 5363, "net_total_weight": 2105, "number": "n"},
    "postage": 570,
}


def names(path: Path) -> set[str]:
    """Every identifier in a file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(content(str(path)))):
        for field in ("id", "attr", "name", "asname", "arg"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                found.add(value)
    return found


def package() -> None:
    """The new name works, the old one is gone, results are the same."""
    found = answers(PROBE, None, copied(str(path) for path in Path("orders").rglob("*.py")))
    assert found == EXPECTED, f"found {found}"


def no_trace() -> None:
    """No identifier and no docstring of the package keeps the old name."""
    for path in sorted(Path("orders").rglob("*.py")):
        assert "net_total" not in names(path), path
    pricing = content("orders/pricing.py").decode("utf-8")
    assert not re.search(r"\bnet_total\b", pricing)
    assert re.search(r"def subnet_total.*\n.*\bamount_due\b", pricing), "the docstring does not speak of amount_due"


def selftest() -> None:
    """The self-test uses the new name in the one place, and tests what it tested."""
    before = content("selftest.py").replace(b"orders.amount_due(", b"orders.net_total(")
    assert b"orders.amount_due(" in content("selftest.py")
    assert hashlib.sha256(before).hexdigest() == SELFTEST


def other_files() -> None:
    """Files without the function are untouched."""
    for name, digest in UNTOUCHED.items():
        assert hashlib.sha256(content(name)).hexdigest() == digest, name


GOALS = (package, no_trace, selftest)
KEPT = (other_files,)
