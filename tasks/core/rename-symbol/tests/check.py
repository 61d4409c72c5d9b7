"""Was net_total renamed everywhere, and nothing else?"""

import ast
import hashlib
import re
from pathlib import Path

from solver import answers, copied
from workspace import content, digest_of

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
    for node in ast.walk(ast.parse(content(path))):
        for field in ("id", "attr", "name", "asname", "arg"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                found.add(value)
    return found


def docstrings(path: Path) -> dict[str, set[str]]:
    """By name of a function of a module, and by "" for the module: the words of its docstring."""
    module = ast.parse(content(path))
    parts = {"": module, **{node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}}
    return {name: set(re.findall(r"\w+", ast.get_docstring(node) or "")) for name, node in parts.items()}


def package() -> None:
    """The new name works, the old one is gone, results are the same."""
    found = answers(PROBE, None, copied(str(path) for path in Path("orders").rglob("*.py")))
    assert found == EXPECTED, f"found {found}"


def no_trace() -> None:
    """No identifier and no docstring of the package keeps the old name."""
    for path in sorted(Path("orders").rglob("*.py")):
        assert "net_total" not in names(path), path
    told = docstrings(Path("orders/pricing.py"))
    assert not [name for name, words in told.items() if "net_total" in words]
    assert "amount_due" in told["subnet_total"], "the docstring does not speak of amount_due"


def selftest() -> None:
    """The self-test uses the new name in the one place, and tests what it tested."""
    before = content("selftest.py").replace(b"orders.amount_due(", b"orders.net_total(")
    assert b"orders.amount_due(" in content("selftest.py")
    assert hashlib.sha256(before).hexdigest() == SELFTEST


def other_files() -> None:
    """Files without the function are untouched."""
    for name, digest in UNTOUCHED.items():
        assert digest_of(name) == digest, name


GOALS = (package, no_trace, selftest)
KEPT = (other_files,)
