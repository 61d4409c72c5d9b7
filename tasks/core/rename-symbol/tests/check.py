"""Was net_total renamed everywhere, and nothing else?"""

import ast
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

UNTOUCHED = {
    "orders/lines.py": "a015f8fafb34a7b02181b7ec185df13c7e82943415bb696c8b20ccd36977195d",
    "orders/shipping.py": "3f7aafeef7dbe8f0bc179480b7f873cd5d3efbe7672b8fd91e34dfa1f1dca290",
    "docs/glossary.md": "7340880b096feb8e9fa861c8077d7a3ad2e6df77ab51b9ccf9343da50a3860ed",
}
SOLVER = shlex.split(os.environ.get("AS_SOLVER", ""))
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


def run(*arguments: str) -> str:
    """What Python prints in a throw-away copy of the package."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        subprocess.run([*SOLVER, "cp", "-RL", "orders", "selftest.py", folder], timeout=20, check=True)
        command = [*SOLVER, sys.executable, "-EsB", *arguments]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=20, check=True).stdout


def names(path: Path) -> set[str]:
    """Every identifier in a file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for field in ("id", "attr", "name", "asname", "arg"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                found.add(value)
    return found


def package() -> None:
    """The new name works, the old one is gone, results are the same."""
    found = json.loads(run("-c", PROBE))
    assert found == EXPECTED, f"found {found}"


def no_trace() -> None:
    """No identifier and no docstring of the package keeps the old name."""
    for path in sorted(Path("orders").rglob("*.py")):
        assert "net_total" not in names(path), path
    pricing = Path("orders/pricing.py").read_text(encoding="utf-8")
    assert not re.search(r"\bnet_total\b", pricing)
    assert re.search(r"def subnet_total.*\n.*\bamount_due\b", pricing), "the docstring does not speak of amount_due"


def selftest() -> None:
    """The self-test uses the new name and passes."""
    used = names(Path("selftest.py"))
    assert "amount_due" in used
    assert "net_total" not in used
    assert run("selftest.py").rstrip().endswith("selftest passed")


def other_files() -> None:
    """Files without the function are untouched."""
    for name, digest in UNTOUCHED.items():
        assert hashlib.sha256(Path(name).read_bytes()).hexdigest() == digest, name


GOALS = (package, no_trace, selftest)
KEPT = (other_files,)
