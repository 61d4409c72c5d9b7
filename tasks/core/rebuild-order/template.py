"""Packages that need one another, some sources that changed, and the question what must be built again in which order.

Drawn: the packages and what they need, which of them are pinned, which sources changed, all versions.
"""

from harness_eval.draws import Draws
from harness_eval.templates import expected_text, plan_text, shared

SHARED = ("task.toml", "environment/Dockerfile", "tests/test.sh", "tests/check.py", "solution/solve.sh")
NAMES = """amber aspen basalt birch cedar chalk clover copper coral cotton ebony fern flint garnet ginger hazel indigo
ivory jasper laurel linen maple mica myrtle nickel ochre olive opal pearl pewter poplar quartz ruby saffron silver slate
tin umber walnut willow zinc"""
STEMS = "codec entry frame graph index merge parse queue scan store table token trace view write"
INSTRUCTION = """# What must be built again?

Each folder of `packages/` is a package; its file `package.txt` describes it, one statement a line:

    version 2.4.1
    source src/parse.c
    source ../common/table.c
    needs amber flint
    tests-with coral
    pinned

- `source` names a file that the package is made from, by a path from the package's folder. Files below
  `packages/common/`, which is no package, may belong to several packages.
- `needs` names packages that it is built with. A package must be built again when one of its sources changed, or when
  one of those that it needs is built again.
- `tests-with` names packages that only its tests use: that is no reason to build it again, and says nothing about the
  order.
- A `pinned` package comes from elsewhere: it is never built again, whatever changed, and so passes no change on.

`changed.txt` lists the files that changed, by paths from here. Write `rebuild.txt`: one line for each package that must
be built again, with its name, a blank, and its new version: the last number is one more than before (`2.4.1` becomes
`2.4.2`). A package stands below all those that it needs and that are built again too; any such order is right. No other
lines, and change nothing in `packages/`.
"""
SOLVER = '''from pathlib import Path

changed = {Path(line).resolve() for line in Path("changed.txt").read_text().split()}
needs, version, todo = {}, {}, set()
for file in Path("packages").glob("*/package.txt"):
    name, lines = file.parent.name, [line.split() for line in file.read_text().splitlines()]
    needs[name] = [other for verb, *others in lines if verb == "needs" for other in others]
    version[name] = next(line[1] for line in lines if line[0] == "version")
    own = {(file.parent / line[1]).resolve() for line in lines if line[0] == "source"}
    if ["pinned"] in lines:
        needs[name] = []
    elif own & changed:
        todo.add(name)
while more := {name for name in needs if name not in todo and todo & set(needs[name])}:
    todo |= more
order = []
while len(order) < len(todo):
    order.append(min(name for name in todo if name not in order and not (todo & set(needs[name])) - set(order)))
'''
PRINTER = '''for name in order:
    *front, last = version[name].split(".")
    print(name, ".".join([*front, str(int(last) + 1)]))
'''


def affected(packages: dict[str, dict], changed: list[str]) -> set[str]:
    """The packages that must be built again."""
    found: set[str] = set()
    for name, package in packages.items():  # each stands after those that it needs
        hit = found & set(package["needs"]) or set(changed) & set(package["files"])
        if hit and not package["pinned"]:
            found.add(name)
    return found


def graph(draws: Draws) -> dict[str, dict]:
    """Packages, each after those that it needs."""
    names = draws.sample(NAMES.split(), draws.integer(22, 30))
    common = [f"packages/common/{stem}.c" for stem in draws.sample(STEMS.split(), 5)]
    packages: dict[str, dict] = {}
    for at, name in enumerate(names):
        near = names[max(0, at - 9) : at]
        stems = draws.sample(STEMS.split(), draws.integer(2, 4))
        packages[name] = {
            "needs": draws.sample(near, min(len(near), draws.integer(1, 3))) if at > 3 else [],
            "tests": draws.sample(near, min(len(near), draws.integer(0, 2))),
            "files": [f"packages/{name}/src/{stem}.c" for stem in stems],
            "pinned": at > 3 and draws.integer(1, 6) == 1,
            "version": f"{draws.integer(0, 9)}.{draws.integer(0, 30)}.{draws.choice([9, 99, draws.integer(0, 40)])}",
        }
        if draws.integer(1, 5) == 1:
            packages[name]["files"].append(draws.choice(common))
    return packages


def described(draws: Draws, name: str, package: dict) -> str:
    """The file package.txt."""
    lines = [f"version {package['version']}"]
    for file in package["files"]:
        inside = file.removeprefix(f"packages/{name}/")
        lines.append(f"source {inside if inside != file else file.replace('packages/', '../')}")
    for verb, others in (("needs", package["needs"]), ("tests-with", package["tests"])):
        cut = draws.integer(0, len(others))
        lines += [f"{verb} {' '.join(part)}" for part in (others[:cut], others[cut:]) if part]
    lines += ["pinned"] if package["pinned"] else []
    return "\n".join(draws.shuffled(lines)) + "\n"


def instance(draws: Draws) -> dict[str, str]:
    """A graph and changes that reach 7 to 14 packages."""
    while True:
        packages = graph(draws)
        files = sorted({file for package in packages.values() for file in package["files"]})
        changed = sorted(draws.sample(files, draws.integer(2, 4)))
        hit = affected(packages, changed)
        through = [name for name in hit if set(packages[name]["needs"]) & hit]
        pinned = [package for package in packages.values() if package["pinned"]]
        stopped = any(set(package["needs"]) & hit or set(package["files"]) & set(changed) for package in pinned)
        if 7 <= len(hit) <= 14 and len(through) >= 4 and stopped:
            break
    given = {f"packages/{name}/package.txt": described(draws, name, packages[name]) for name in sorted(packages)}
    given |= {file: f"int {file.split('/')[-1][:-2]}_{at};\n" for at, file in enumerate(files) if "/common/" in file}
    given["changed.txt"] = "".join(file + "\n" for file in changed)
    versions = {}
    for name in sorted(hit):
        front, last = packages[name]["version"].rsplit(".", 1)
        versions[name] = f"{front}.{int(last) + 1}"
    return (
        shared(__file__, *SHARED)
        | {f"environment/files/{name}": text for name, text in given.items()}
        | {
            "instruction.md": INSTRUCTION,
            "tests/expected.json": expected_text(
                {
                    "versions": versions,
                    "needs": {name: sorted(set(packages[name]["needs"]) & hit) for name in sorted(hit)},
                    "given": given,
                }
            ),
            "solution/plan.yaml": plan_text(
                "rebuild.txt lists what must be built again, each package below those that it needs.", plan_steps()
            ),
        }
    )


def plan_steps() -> list[dict]:
    """What changed, a program for the rules, and the answer from what it prints."""
    order = r"^order:\n((?:[a-z]+ [0-9.]+\n)+)end$"
    return [
        {"say": "I look at what changed.", "run": "cat changed.txt; cat packages/[a-f]*/package.txt"},
        {
            "say": "I write the rules as a program.",
            "create": {"path": "order.py", "text": SOLVER + 'print("order:")\n' + PRINTER + 'print("end")\n'},
        },
        {
            "say": "I run it.",
            "run": "python3 order.py",
            "learn": {"order": order},
            "otherwise": "python3 order.py | cat",
        },
        {"say": "I write the answer.", "create": {"path": "rebuild.txt", "text": "${order}"}},
        {"say": "I check it.", "run": "wc -l rebuild.txt; cat rebuild.txt"},
    ]
