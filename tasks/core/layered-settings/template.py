"""A configuration that is spread over files which include one another; later lines override earlier ones.

Drawn: the names of files and keys, how deep the inclusions go, which files belong to other hosts, where a value is set,
extended and withdrawn, and for which host and keys the answer is wanted.
"""

from itertools import pairwise

from harness_eval.draws import Draws
from harness_eval.templates import expected_text, plan_text, shared

SHARED = ("task.toml", "environment/Dockerfile", "tests/test.sh", "tests/check.py")
KEYS = """cache.size cache.ttl disk.quota http.port http.timeout jobs.limit jobs.retries log.level log.rotate
mail.from mail.queue pool.max pool.min queue.depth search.shards session.length upload.limit worker.count"""
PARTS = """base cache common customs defaults edge fleet freight hall harbour inland legacy limits local lower network
night north pier quay shared site south standby storage upper winter yard"""
HOSTS = ["osprey", "plover", "siskin", "wagtail", "avocet", "bittern", "curlew", "dunlin", "fulmar", "gannet"]
INSTRUCTION = """# What is really set on `{host}`?

The settings of our hosts are spread over files in `conf/`. The file of a host is `conf/hosts/NAME.conf`. A file is read
from top to bottom:

- `include PATH` reads that file at this place, then goes on; the path starts at `conf/`.
- `set KEY VALUE` sets a key; whatever was set for it before no longer counts.
- `add KEY VALUE` adds to the value that the key has at this point, separated by one comma; where the key has none, it
  sets it.
- `drop KEY` withdraws the key: from here on it has no value, until it is set or added to again.
- Lines that begin with `#`, and empty ones, say nothing. A file that nothing includes has no effect.

Write `effective.json`: one object whose keys are these {count}:

{keys}

Each of them has an object with `value` (the text that holds on `{host}` in the end, or `null` if the key has none) and
`file` (the file with the line that last set, added to or dropped it, such as `hosts/{host}.conf`).

Leave `conf/` as it is.
"""
SOLVER = '''import json
from pathlib import Path

WANTED = @KEYS@
values, files = {}, {}


def read(name):
    for line in Path("conf", name).read_text().splitlines():
        verb, _, rest = line.strip().partition(" ")
        key, _, value = rest.partition(" ")
        if verb == "include":
            read(rest)
        elif verb in ("set", "add", "drop"):
            values[key] = f"{values[key]},{value}" if verb == "add" and values.get(key) else value or None
            files[key] = name


read("hosts/@HOST@.conf")
for key in WANTED:
    print(f"{key} = {values[key]} from {files[key]}")
'''
WRITER = """answer = {key: {"value": values[key], "file": files[key]} for key in WANTED}
Path("effective.json").write_text(json.dumps(answer, indent=2) + "\\n")
"""


def value(draws: Draws, key: str) -> str:
    """A value of a kind that suits the key."""
    if key.startswith(("log.level", "mail.from")):
        return draws.choice(["debug", "info", "notice", "warn", "quiet", "loud", "plain"]) + str(draws.integer(2, 9))
    return f"{draws.integer(2, 900)}{draws.choice(['', '', 'k', 's', 'm'])}"


def statements(draws: Draws, keys: list[str], count: int) -> list[str]:
    """Lines that set, add to and drop keys."""
    lines = []
    for _ in range(count):
        key, verb = draws.choice(keys), draws.choice(["set", "set", "set", "add", "add", "drop"])
        lines.append(f"{verb} {key}" if verb == "drop" else f"{verb} {key} {value(draws, key)}")
    return lines


def resolved(files: dict[str, str], name: str) -> tuple[dict[str, str | None], dict[str, str]]:
    """What holds after a file and those it includes: the value of each key, and where it was touched last."""
    values: dict[str, str | None] = {}
    touched: dict[str, str] = {}

    def read(file: str) -> None:
        for line in files[file].splitlines():
            verb, _, rest = line.partition(" ")
            key, _, text = rest.partition(" ")
            if verb == "include":
                read(rest)
            elif verb in {"set", "add", "drop"}:
                before = values.get(key) if verb == "add" else None
                values[key] = None if verb == "drop" else f"{before},{text}" if before else text
                touched[key] = file

    read(name)
    return values, touched


def instance(draws: Draws) -> dict[str, str]:
    """A tree of files for one host, among those of others."""
    keys, parts = draws.sample(KEYS.split(), 12), draws.sample(PARTS.split(), 17)
    hosts = draws.sample(HOSTS, 3)
    folders = draws.sample(["site", "role", "team", "area"], 2)
    names = [f"{draws.choice(folders)}/{part}.conf" for part in parts]
    used, depth = names[: draws.integer(9, 11)], draws.integer(4, 6)
    included: dict[str, list[str]] = {name: [] for name in [*names, *(f"hosts/{host}.conf" for host in hosts)]}
    chain = [f"hosts/{hosts[0]}.conf", *used[:depth]]
    for outer, inner in pairwise(chain):
        included[outer].append(inner)
    for name in used[depth:]:
        included[draws.choice(chain)].append(name)
    for at, host in enumerate(hosts[1:]):
        included[f"hosts/{host}.conf"] += [draws.choice(used[:depth]), *names[len(used) + 3 * at :][:3]]
    files = {}
    for name, inner in included.items():
        lines = [*statements(draws, keys, draws.integer(4, 7)), *(f"include {other}" for other in inner)]
        remark = f"# {draws.choice(['was', 'ask first:', 'until spring:'])} {value(draws, keys[0])}"
        body = draws.shuffled([*lines, remark])
        files[name] = "\n".join([f"# settings of {name.split('/')[1].removesuffix('.conf')}", "", *body]) + "\n"
    root = f"hosts/{hosts[0]}.conf"
    values, touched = resolved(files, root)
    far = [key for key in keys if touched.get(key, root) != root]
    asked = sorted(draws.sample(far, min(len(far), draws.integer(5, 7))))
    solver = SOLVER.replace("@KEYS@", repr(asked)).replace("@HOST@", hosts[0])
    return (
        shared(__file__, *SHARED)
        | {f"environment/files/conf/{name}": text for name, text in files.items()}
        | {
            "instruction.md": INSTRUCTION.format(
                host=hosts[0], count=len(asked), keys="\n".join(f"- `{key}`" for key in asked)
            ),
            "tests/expected.json": expected_text(
                {
                    "answer": {key: {"value": values[key], "file": touched[key]} for key in asked},
                    "given": {f"conf/{name}": text for name, text in files.items()},
                }
            ),
            "solution/solve.sh": f"#!/bin/bash\nset -euo pipefail\npython3 -I - <<'PYTHON'\n{solver}{WRITER}PYTHON\n",
            "solution/plan.yaml": plan_text(
                f"effective.json says what holds on {hosts[0]}.", plan_steps(hosts[0], asked, solver)
            ),
        }
    )


def plan_steps(host: str, asked: list[str], solver: str) -> list[dict]:
    """The host's file, a program for the rules, and the answer from what it prints."""
    learn = {}
    for at, key in enumerate(asked):
        learn[f"value{at}"] = rf"^{key} = (.*) from "
        learn[f"file{at}"] = rf"^{key} = .* from (\S+)$"
    rows = ",\n".join(
        f'  "{key}": {{"value": "${{value{at}}}", "file": "${{file{at}}}"}}' for at, key in enumerate(asked)
    )
    return [
        {"say": "I look at the host's own file.", "run": f"cat conf/hosts/{host}.conf; ls conf/*", "goal": "look"},
        {"say": "I write the rules as a program.", "create": {"path": "resolve.py", "text": solver}, "goal": "resolve"},
        {"say": "I run it.", "run": "python3 resolve.py", "learn": learn, "goal": "resolve"},
        {
            "say": "I write the answer.",
            "create": {"path": "effective.json", "text": "{\n" + rows + "\n}\n"},
            "goal": "answer",
        },
        {
            "say": "A key without a value is null; I put that right and check.",
            "run": "sed -i 's/\"None\"/null/' effective.json && python3 -m json.tool effective.json",
            "goal": "answer",
        },
    ]
