"""The size budgets of the design, over the whole package."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "harness_eval"
FILES = sorted(PACKAGE.rglob("*.py"))
NESTING = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)
Function = ast.FunctionDef | ast.AsyncFunctionDef

by_file = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))


@cache
def _functions(path: Path) -> list[Function]:
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, Function)]


def _depth(node: ast.AST, above: int = 0) -> int:
    deepest = above
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function | ast.Lambda | ast.ClassDef):
            continue
        chained = isinstance(node, ast.If) and isinstance(child, ast.If) and child in node.orelse
        deepest = max(deepest, _depth(child, above + (isinstance(child, NESTING) and not chained)))
    return deepest


@by_file
def test_a_file_has_at_most_300_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 300


@by_file
def test_a_function_has_at_most_40_lines(path: Path) -> None:
    long = {f.name: (f.end_lineno or 0) - f.lineno + 1 for f in _functions(path)}
    assert not {name: lines for name, lines in long.items() if lines > 40}


@by_file
def test_a_function_has_at_most_five_parameters(path: Path) -> None:
    if path.parent.name == "cli":
        pytest.skip("each flag of a command is a parameter of its function")
    found = {}
    for function in _functions(path):
        arguments = function.args
        names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        names = [name for name in names if name not in {"self", "cls"}]
        if len(names) > 5:
            found[function.name] = names
    found.pop("run_agent", None)  # its six nouns are what meets in the one loop
    assert not found


@by_file
def test_blocks_nest_at_most_three_deep(path: Path) -> None:
    assert not {f.name: _depth(f) for f in _functions(path) if _depth(f) > 3}


def test_any_exception_is_caught_in_one_place_only() -> None:
    caught = [
        str(path.relative_to(PACKAGE))
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"}))
    ]
    assert caught == ["errors.py"]


@by_file
def test_imports_inside_functions_are_lazy_ones_and_say_so(path: Path) -> None:
    lines = path.read_text().splitlines()
    unmarked = [
        lines[node.lineno - 1].strip()
        for function in _functions(path)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom) and "# lazy: " not in lines[node.lineno - 1]
    ]
    assert not unmarked
