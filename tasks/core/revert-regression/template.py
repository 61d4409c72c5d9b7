"""A repository in whose history one commit, under an innocent subject, changed what a function gives.

Drawn: the module and its functions with their constants, the culprit and its place, the commits around it, a stretch of
commits in which the module cannot be loaded, and the line beside the fault that a later commit touched.
"""

import hashlib

from harness_eval.draws import Draws
from harness_eval.templates import expected_text, plan_text, setup_text, shared

SHARED = ("task.toml", "environment/Dockerfile", "tests/test.sh", "tests/check.py")
PEOPLE = ["Aino Berg", "Bela Novak", "Chidi Obi", "Dana Weiss", "Elif Kaya", "Femi Ade", "Goran Ilic", "Hana Sato"]
ZONES = ["north", "south", "east", "west"]
PROJECTS = ["parcels", "freight", "postage", "courier", "haulage", "shipping"]
# name: parameter, what it gives, three lines, and of these the one at fault: which, and how it reads then
FUNCTIONS = {
    "rebate": (
        "count",
        "Percent off for many pieces",
        ("steps = count // @A@", "steps = min(steps, @B@)", "return steps * @C@"),
        (0, "steps = (count - 1) // @A@"),
    ),
    "surcharge": (
        "grams",
        "Cents on top for heavy pieces",
        ("over = max(0, grams - @A@00)", "parts = -(-over // @B@0)", "return parts * @C@"),
        (1, "parts = over // @B@0"),
    ),
    "storage": (
        "days",
        "Cents for storage after the free days",
        ("counted = max(0, days - @A@)", "weeks = (counted + 6) // 7", "return weeks * @C@"),
        (0, "counted = max(0, days - @A@ - 1)"),
    ),
    "insurance": (
        "value",
        "Cents for the insurance",
        ("share = value * @A@ // 1000", "share = max(share, @B@)", "return share + @C@"),
        (1, "share = min(share, @B@)"),
    ),
    "points": (
        "cents",
        "Points for a purchase",
        ("whole = cents // 100", "extra = whole // @A@ * @B@", "return whole + extra"),
        (1, "extra = whole * @B@ // @A@"),
    ),
    "toll": (
        "axles",
        "Cents for the bridge",
        ("pairs = (axles + 1) // 2", "base = @A@0 if pairs > 1 else @B@0", "return base + pairs * @C@"),
        (1, "base = @A@0 if axles > 1 else @B@0"),
    ),
}
SUBJECTS = "State the rule for {0} in other words|Tidy {0}|Align {0} with its description|Read {0} again, and note it"
REMARKS = "agreed with sales|as in the contract|checked by hand|see the rules|reviewed in spring|the office knows"
INSTRUCTION = """# Take one commit back

In the repository `{project}/`, the function `{function}` of `{project}.py` used to be right: at the tag `v1.0`,
`{function}({sample})` gives **{right}**. Today, on `main`, it gives **{wrong}**. One commit since then changed it,
whatever its subject says. All other changes of prices and words since `v1.0` are agreed and must stay.

1. Find that commit, and write its full 40-digit id to `culprit.txt`, next to `{project}/`.
2. Undo everything that this commit changed, and nothing else, by one new commit directly on top of `main`. Its subject
   is the one that git gives a revert: `Revert "SUBJECT"`, with the culprit's subject. What later commits changed stays,
   also in the lines beside.

No merge, no rewriting of history, no other branch or tag; in the end `main` is checked out with nothing left
uncommitted. Not every commit of the history can be run. A committer identity is already configured.
"""


def lay_out(facts: dict) -> dict[str, str]:
    """A stream for git fast-import: each commit changes lines, which have names, of the files."""
    stream, lines = [], dict(facts["start"])
    for mark, (subject, person, changes) in enumerate(facts["commits"], 1):
        lines |= changes
        who = f"{person} <{person.split()[0].lower()}@office.example> {facts['epoch'] + mark * 41231} +0000"
        stream.append(f"commit refs/heads/main\nmark :{mark}\nauthor {who}\ncommitter {who}")
        stream.append(f"data {len(subject) + 1}\n{subject}\n")
        if mark > 1:
            stream.append(f"from :{mark - 1}")
        for path in facts["files"]:
            text = "".join(line + "\n" for name, line in lines.items() if name.startswith(path + "#"))
            stream.append(f"M 100644 inline {path}\ndata {len(text)}\n{text}")
        if mark == facts["tagged"]:
            stream.append(f"reset refs/tags/v1.0\nfrom :{mark}\n")
    return {"stream.txt": "\n".join(stream) + "\n"}


def object_id(kind: str, content: bytes) -> str:
    """The id that git gives to an object."""
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()


def tree_id(lines: dict[str, str], files: list[str]) -> str:
    """The id of a tree of these files, at most one folder deep."""
    entries: dict[str, bytes] = {}
    folders: dict[str, bytes] = {}
    for path in sorted(files):
        text = "".join(line + "\n" for name, line in lines.items() if name.startswith(path + "#"))
        blob = bytes.fromhex(object_id("blob", text.encode()))
        folder, _, name = path.rpartition("/")
        target = folders if folder else entries
        key = folder or name
        target[key] = target.get(key, b"") + f"100644 {name}\0".encode() + blob
    for folder, content in folders.items():
        entries[folder + "/"] = f"40000 {folder}\0".encode() + bytes.fromhex(object_id("tree", content))
    return object_id("tree", b"".join(entries[name] for name in sorted(entries)))


def commit_ids(facts: dict) -> list[str]:
    """The ids of all commits of `lay_out`."""
    ids: list[str] = []
    lines = dict(facts["start"])
    for mark, (subject, person, changes) in enumerate(facts["commits"], 1):
        lines |= changes
        who = f"{person} <{person.split()[0].lower()}@office.example> {facts['epoch'] + mark * 41231} +0000"
        parent = f"parent {ids[-1]}\n" if ids else ""
        text = f"tree {tree_id(lines, facts['files'])}\n{parent}author {who}\ncommitter {who}\n\n{subject}\n"
        ids.append(object_id("commit", text.encode()))
    return ids


def filled(line: str, numbers: dict[str, int]) -> str:
    """A line with its constants, within a function."""
    for letter, number in numbers.items():
        line = line.replace(f"@{letter}@", str(number))
    return "    " + line


def start_lines(draws: Draws, project: str, names: list[str], numbers: dict[str, dict]) -> dict[str, str]:
    """All lines of the first commit, by file and name; notes that come later stand as empty ones."""
    module, rules = f"{project}.py#", "docs/rules.md#"
    lines = {".gitignore#cache": "__pycache__/", "NOTES.md#head": f"# Notes on {project}"}
    lines |= {f"NOTES.md#{at}": "" for at in range(40)}
    lines |= {rules + "head": "# Rules"}
    lines[module + "head"] = f'"""What {project} costs, in cents."""'
    lines |= {module + "gap": "", module + "audit": "AUDIT = []"}
    for zone in ZONES:
        lines[f"{module}{zone}"] = f"{zone.upper()} = {draws.integer(200, 900)}"
    for name in names:
        parameter, about, body, _ = FUNCTIONS[name]
        inside = [filled(line, numbers[name]) for line in (f'"""{about}."""', *body)]
        for at, line in enumerate(["", "", f"def {name}({parameter}):", *inside], -2):
            lines[f"{module}{name}.{at}"] = line
        lines |= {f"{rules}{name}.gap": "", rules + name: f"- {name}: {about.lower()}, as the office has fixed it."}
    return lines


def loaded(lines: dict[str, str], module: str) -> dict:
    """The names of this state of the module."""
    space: dict = {}
    exec("".join(line + "\n" for name, line in lines.items() if name.startswith(module + "#")), space)  # noqa: S102
    return space


def other_commits(draws: Draws, module: str, names: list[str], count: int) -> list[list]:
    """Commits that leave what functions give as it is: prices of zones, notes, words in rules and docstrings."""
    commits = []
    for at in range(count):
        name, remark, person = draws.choice(names), draws.choice(REMARKS.split("|")), draws.choice(PEOPLE)
        kind = draws.choice(["zone", "note", "rule", "words", "words"])
        if kind == "rule":  # the culprit's rule is left alone, so that it can be undone in one way only
            name = draws.choice(names[1:])
        if kind == "zone":
            zone = draws.choice(ZONES)
            change = {f"{module}#{zone}": f"{zone.upper()} = {draws.integer(200, 900)}"}
            commits.append([f"New price for the {zone}", person, change])
        elif kind == "rule":
            change = {f"docs/rules.md#{name}": f"- {name}: {FUNCTIONS[name][1].lower()}, {remark} ({at})."}
            commits.append([draws.choice(SUBJECTS.split("|")).format(name), person, change])
        elif kind == "words":
            change = {f"{module}#{name}.1": f'    """{FUNCTIONS[name][1]}, {remark} ({at})."""'}
            commits.append([draws.choice(SUBJECTS.split("|")).format(name), person, change])
        else:
            change = {f"NOTES.md#{at}": f"- {remark}: {name} came up again on day {draws.integer(1, 300)}."}
            commits.append([f"Note what was said about {name}", person, change])
    return commits


def instance(draws: Draws) -> dict[str, str]:
    """A history with a culprit, and what is left without it."""
    project, names = draws.choice(PROJECTS), draws.sample(sorted(FUNCTIONS), 4)
    module, function = f"{project}.py", names[0]
    numbers = {
        name: {"A": draws.integer(3, 19), "B": draws.integer(20, 60), "C": draws.integer(2, 40)} for name in names
    }
    start = start_lines(draws, project, draws.shuffled(names), numbers)
    _, about, _, (line, fault) = FUNCTIONS[function]
    key, beside = f"{module}#{function}.{line + 2}", f"{module}#{function}.{line + 3}"
    wrong = filled(fault, numbers[function])
    before, after = loaded(start, module)[function], loaded(start | {key: wrong}, module)[function]
    values = {n: (before(n), after(n)) for n in range(1, 4000)}
    sample = draws.choice([n for n, (was, now) in values.items() if was not in {0, now}])
    right, now = values[sample]
    commits = other_commits(draws, module, names, draws.integer(26, 36))
    place = draws.integer(12, len(commits) - 6)
    culprit = {key: wrong, f"docs/rules.md#{function}": f"- {function}: {about.lower()}, put more simply."}
    subject = draws.choice(SUBJECTS.split("|")).format(function)
    agreed = {beside: f"{start[beside]}  # {draws.choice(REMARKS.split('|'))}"}
    later = [f"Say who agreed to {function}", draws.choice(PEOPLE), agreed]
    commits.insert(draws.integer(place + 1, len(commits) - 1), later)
    commits.insert(place, [subject, draws.choice(PEOPLE), culprit])
    first = draws.choice([draws.integer(4, place - 5), draws.integer(place + 2, place + 3)])
    commits[first] = ["Begin an audit", draws.choice(PEOPLE), {f"{module}#audit": "AUDIT = [("}]
    commits[first + 2] = ["End the audit", draws.choice(PEOPLE), {f"{module}#audit": "AUDIT = []"}]
    if later not in commits:
        commits.append(later)
    commits.insert(0, ["Begin", draws.choice(PEOPLE), {}])
    facts = {"start": start, "commits": commits, "tagged": draws.integer(2, 4), "files": [".gitignore", "NOTES.md"]}
    facts |= {"epoch": draws.integer(1_900_000_000, 1_990_000_000)}
    facts["files"] += ["docs/rules.md", module]
    ids, end, undone = commit_ids(facts), dict(start), dict(start)
    for entry in commits:
        end |= entry[2]
        undone |= entry[2] if entry[2] is not culprit else {}
    commit = ids[next(at for at, entry in enumerate(commits) if entry[2] is culprit)]
    expected = {"project": project, "culprit": commit, "tip": ids[-1], "tagged": ids[facts["tagged"] - 1]}
    expected |= {"tree": tree_id(undone, facts["files"]), "subject": f'Revert "{subject}"'}
    return shared(__file__, *SHARED) | {
        "instruction.md": INSTRUCTION.format(
            project=project, function=function, sample=sample, right=right, wrong=now
        ),
        "environment/setup.sh": setup_text(lay_out, facts, AFTER.replace("@PROJECT@", project)),
        "tests/expected.json": expected_text(expected),
        "solution/solve.sh": solution(project, function, sample, (wrong, start[key], right)),
        "solution/plan.yaml": plan_text(
            f"The commit ${{culprit}} had changed {function}; it is undone by one commit on main.",
            plan_steps(project, function, (sample, right, now), (wrong, start[key])),
        ),
    }


AFTER = """git init -q -b main @PROJECT@
cd @PROJECT@
git config user.name "Price Desk"
git config user.email desk@office.example
git config gc.auto 0
git config commit.gpgsign false
git fast-import --quiet < ../stream.txt
rm ../stream.txt
git reset -q --hard main
"""
TRIED = """for c in $(git rev-list --reverse v1.0..main); do
  {{ git show $c:{project}.py; echo 'print({function}({sample}))'; }} > .git/tried.py
  echo "$c $(python3 .git/tried.py 2> /dev/null || echo broken)"
done"""


def solution(project: str, function: str, sample: int, lines: tuple[str, str, int]) -> str:
    """Tries each commit, reverts the first wrong one, and settles the conflict."""
    wrong, right, value = lines
    tried = TRIED.format(project=project, function=function, sample=sample)
    return f"""#!/bin/bash
set -euo pipefail
cd {project}
culprit=$({tried} | grep -v broken | grep -v ' {value}$' | head -n 1 | cut -d' ' -f1)
echo "$culprit" > ../culprit.txt
git revert --no-edit "$culprit" > /dev/null 2>&1 || git checkout -q --ours {project}.py
python3 -I - <<'PYTHON'
from pathlib import Path

path = Path("{project}.py")
text = path.read_text(encoding="utf-8")
assert text.count({wrong!r} + "\\n") == 1
path.write_text(text.replace({wrong!r} + "\\n", {right!r} + "\\n"), encoding="utf-8")
PYTHON
git commit -qam "Revert \\"$(git log -1 --format=%s "$culprit")\\""
"""


def plan_steps(project: str, function: str, values: tuple[int, int, int], lines: tuple[str, str]) -> list[dict]:
    """The value at each commit, the culprit, its revert with the conflict settled."""
    sample, right, wrong = values
    module = f"{project}.py"
    tried = f"cd {project}\n" + TRIED.format(project=project, function=function, sample=sample)
    return [
        {"say": "I look at the history.", "run": f"git -C {project} log --oneline v1.0..main"},
        {
            "say": "I ask every commit since v1.0 for the value.",
            "run": tried,
            "learn": {"culprit": rf"^[0-9a-f]{{40}} {right}\n([0-9a-f]{{40}}) {wrong}$"},
            "otherwise": f"({tried}) | grep -m 1 -B 1 ' {wrong}$'",
        },
        {
            "say": "From ${culprit} on it is wrong. I see what else it changed.",
            "run": f"git -C {project} show --format='subject: %s' ${{culprit}}",
            "learn": {"subject": "^subject: (.+)$"},
        },
        {
            "say": "I revert it. A later commit changed the line beside, so that will not go by itself.",
            "run": f"cd {project}; git revert --no-edit ${{culprit}} || git checkout --ours {module}; git status -s",
            "learn": {"file": rf"^UU ({project}\.py)$"},
        },
        {
            "say": "In ${file} I keep the later change and undo the culprit's.",
            "edit": {"path": f"{project}/{project}.py", "old": lines[0] + "\n", "new": lines[1] + "\n"},
        },
        {
            "say": "I commit, and note the culprit.",
            "run": f"cd {project}; git commit -qam 'Revert \"${{subject}}\"'; echo ${{culprit}} > ../culprit.txt",
        },
        {
            "say": "I check the value and the commit.",
            "run": f"cd {project}; (cat {project}.py; echo 'print({function}({sample}))') | python3; git log -1 --stat",
        },
    ]
