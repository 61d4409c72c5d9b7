"""Finds the call with the syntax tree and follows it upwards."""

import ast
import json
from pathlib import Path

functions, callers, found = {}, {}, {}
for path in sorted(Path("src").rglob("*.py")):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names.update({alias.asname or alias.name: (node.module, alias.name) for alias in node.names})
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
            target = names.get(getattr(call.func, "id", ""))
            if target == ("shop.core.money", "legacy_rate"):
                found = {"file": path.as_posix(), "line": call.lineno, "function": function.name}
            elif target:
                callers[target[1]] = function.name
routes = {}
for line in Path("routes.txt").read_text(encoding="utf-8").splitlines():
    method, where, handler = line.split()
    routes[handler.split(":")[1]] = f"{method} {where}"
path = [found["function"]]
while path[0] not in routes:
    path.insert(0, callers[path[0]])
answer = {**found, "path": path, "route": routes[path[0]]}
Path("caller.json").write_text(json.dumps(answer, indent=2) + "\n", encoding="utf-8")
