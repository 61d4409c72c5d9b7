"""A small module in which one or two functions do not do what their docstrings say.

Drawn: which functions there are and in which order, the constants in them, which of them are at fault and how, the
names of package and module, and the hidden inputs.
"""

import json

from harness_eval.draws import Draws
from harness_eval.templates import expected_text, plan_text, shared

SHARED = ("task.toml", "environment/Dockerfile", "tests/test.sh", "tests/check.py")
NAMES = ["abacus", "acorn", "beacon", "cobalt", "ferry", "gable", "harbor", "heron", "juniper", "marble", "quarry"]
MODULES = ["basics", "counting", "figures", "helpers", "measures", "pieces", "routines", "sums", "tables", "tools"]
WORDS = ["ash", "bay", "cod", "dew", "elm", "fig", "gum", "hop", "ivy", "jam", "kelp", "lime", "moss", "nut", "oak"]

# Each function right, and the ways in which it can be wrong: (right text, wrong text), the right one being there once.
# A capital letter between at signs is a constant of the instance.
POOL = {
    "split_evenly": (
        '''def split_evenly(total, parts):
    """`total` as a list of `parts` whole numbers that differ by 1 at most, larger ones first."""
    share, rest = divmod(total, parts)
    return [share + 1 if place < rest else share for place in range(parts)]
''',
        [("place < rest", "place <= rest"), ("place < rest", "place >= parts - rest")],
    ),
    "windows": (
        '''def windows(count, size):
    """Half-open spans [start, end] of `size` each that cover 0 to `count`; the last one may be shorter."""
    return [[start, min(start + size, count)] for start in range(0, count, size)]
''',
        [("range(0, count, size)", "range(0, count - size, size)"), ("min(start + size, count)", "start + size")],
    ),
    "merge_spans": (
        '''def merge_spans(spans):
    """The spans [start, end], those that overlap or touch made one, in order of their starts."""
    merged = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged
''',
        [("start <= merged", "start < merged"), ("max(merged[-1][1], end)", "end")],
    ),
    "share_in_percent": (
        '''def share_in_percent(part, whole):
    """`part` of `whole` in whole percent, halves rounded up; 0 where `whole` is 0. Both are whole and not negative."""
    return (200 * part + whole) // (2 * whole) if whole else 0
''',
        [("(200 * part + whole)", "(200 * part)"), ("(200 * part + whole)", "(200 * part + whole - 1)")],
    ),
    "most_frequent": (
        '''def most_frequent(words, count):
    """The `count` most frequent words as pairs [word, number], most first, equally frequent ones by the alphabet."""
    numbers = {word: words.count(word) for word in words}
    return [[word, numbers[word]] for word in sorted(numbers, key=lambda word: (-numbers[word], word))[:count]]
''',
        [("(-numbers[word], word)", "-numbers[word]"), ("[:count]", "[: count + 1]")],
    ),
    "runs": (
        '''def runs(text):
    """The runs of equal characters as pairs [character, length]."""
    found = []
    for character in text:
        if found and found[-1][0] == character:
            found[-1][1] += 1
        else:
            found.append([character, 1])
    return found
''',
        [("found[-1][0] == character", "found[0][0] == character"), ("[character, 1]", "[character, len(found)]")],
    ),
    "day_of_year": (
        '''def day_of_year(year, month, day):
    """The number of a day within its year, 1 January being 1, in the Gregorian calendar."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return sum(lengths[: month - 1]) + day
''',
        [("(year % 100 != 0 or year % 400 == 0)", "year % 100 != 0"), ("lengths[: month - 1]", "lengths[:month]")],
    ),
    "wrap": (
        '''def wrap(words, width):
    """The words filled into lines of at most `width` characters; a longer word has a line of its own."""
    lines = []
    for word in words:
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines
''',
        [("+ len(word) <= width", "+ len(word) < width"), ("len(lines[-1]) + 1 +", "len(lines[-1]) +")],
    ),
    "median": (
        '''def median(values):
    """The middle one of the values; of an even number of values the smaller one of both in the middle."""
    return sorted(values)[(len(values) - 1) // 2]
''',
        [("(len(values) - 1) // 2", "len(values) // 2"), ("sorted(values)", "list(values)")],
    ),
    "check_digit": (
        '''def check_digit(digits):
    """The digit that makes the weighted sum a multiple of 10; weights are @A@ and @B@ in turn, from the right."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        total += int(digit) * (@A@ if place % 2 == 0 else @B@)
    return -total % 10
''',
        [("reversed(digits)", "digits"), ("-total % 10", "total % 10")],
    ),
    "running_best": (
        '''def running_best(values):
    """For each place the largest value up to there."""
    best = []
    for value in values:
        best.append(value if not best else max(best[-1], value))
    return best
''',
        [("value if not best else max(best[-1], value)", "max(best[-1] if best else 0, value)")],
    ),
    "fee": (
        '''def fee(cents):
    """@C@ cents, and @D@ for each full @E@ cents above @F@."""
    return @C@ + max(0, cents - @F@) // @E@ * @D@
''',
        [("max(0, cents - @F@)", "max(0, cents)"), ("max(0, cents - @F@)", "(cents - @F@)")],
    ),
    "rotated": (
        '''def rotated(items, steps):
    """The items, each moved `steps` places to the right, those that fall off coming in at the left."""
    if not items:
        return []
    cut = -steps % len(items)
    return items[cut:] + items[:cut]
''',
        [("-steps % len(items)", "steps % len(items)"), ("-steps % len(items)", "max(0, len(items) - steps)")],
    ),
    "gaps": (
        '''def gaps(numbers):
    """The whole numbers that are missing between the smallest and the largest of the numbers, ascending."""
    return [n for n in range(min(numbers), max(numbers)) if n not in numbers] if numbers else []
''',
        [("range(min(numbers), ", "range(1, "), ("if n not in numbers", "if n + 1 not in numbers")],
    ),
}
EXAMPLES = '''"""Tries the examples, one line each, and says how many of them failed."""

import json
from pathlib import Path

from @PACKAGE@ import @MODULE@

wrong = 0
for number, line in enumerate(Path("examples.json").read_text(encoding="utf-8").splitlines(), 1):
    name, arguments, wanted = json.loads(line)
    try:
        found = getattr(@MODULE@, name)(*arguments)
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    wrong += found != wanted
    shown = ", ".join(json.dumps(argument) for argument in arguments)
    print(f"{number:3} {'ok    ' if found == wanted else 'FAILED'} {name}({shown}) is {json.dumps(found)}")
    if found != wanted:
        print(f"           where {json.dumps(wanted)} is right")
print(f"{number} examples, {wrong} failed")
'''
INSTRUCTION = """# {Faults} in a small module

`{package}/{module}.py` holds {count} functions, each described by its docstring; the docstrings are right. {Functions}
not do what the docstring says. `python3 -B examples.py` tries examples; some of them fail.

Repair `{package}/{module}.py`:

- Change nothing but the code of the faulty {function}. Every other line of the file stays as it is, byte for byte: the
  docstrings and names, all other functions, the order of the functions, the empty lines.
- Repair the cause, not the examples: other inputs will be tried. What is right now must stay right.
- Add no file, and leave all other files alone (Python's own `__pycache__` does not matter).

Then stop, even if other code could be written more nicely.
"""


def inputs(draws: Draws, name: str) -> list:
    """Arguments for one call of a function."""

    def numbers(low: int, high: int, least: int = 1) -> list[int]:
        return [draws.integer(low, high) for _ in range(draws.integer(least, 9))]

    def spans() -> list[list[int]]:
        starts = [draws.integer(0, 30) for _ in range(draws.integer(2, 7))]
        return [[start, start + draws.integer(1, 9)] for start in starts]

    def words(most: int) -> list[str]:
        few = draws.sample(WORDS, 5)
        return [draws.choice(few) for _ in range(draws.integer(5, most))]

    makers = {
        "split_evenly": lambda: [draws.integer(0, 200), draws.integer(2, 9)],
        "windows": lambda: [draws.integer(1, 40), draws.integer(2, 9)],
        "merge_spans": lambda: [spans()],
        "share_in_percent": lambda: [draws.integer(0, 60), draws.choice([0, 8, 16, 40, draws.integer(1, 200)])],
        "most_frequent": lambda: [words(12), draws.integer(1, 4)],
        "runs": lambda: ["".join(draws.choice("ab") * n for n in numbers(1, 4))],
        "day_of_year": lambda: [
            draws.choice([1900, 2000, 2100, draws.integer(1890, 2110)]),
            draws.integer(1, 12),
            draws.integer(1, 28),
        ],
        "wrap": lambda: [words(14), draws.integer(4, 14)],
        "median": lambda: [numbers(-50, 50)],
        "check_digit": lambda: [str(draws.integer(100, 9_999_999))],
        "running_best": lambda: [numbers(-60, 20)],
        "fee": lambda: [draws.integer(0, 9000)],
        "rotated": lambda: [numbers(0, 9, 0), draws.integer(0, 14)],
        "gaps": lambda: [sorted(set(numbers(-9, 14)))],
    }
    return makers[name]()


def outcome(source: str, name: str, arguments: list) -> object:
    """What a function of this source gives, as JSON."""
    module: dict = {}
    exec(source, module)  # noqa: S102 - the pool's own functions
    try:
        return json.loads(json.dumps(module[name](*json.loads(json.dumps(arguments)))))
    except (IndexError, TypeError, ValueError) as error:
        return type(error).__name__


def cases(draws: Draws, name: str, right: str, wrong: str, count: int) -> list[list]:
    """So many inputs of one function with what is right; at least three of them tell right from wrong."""
    found: list[list] = []
    telling = 0
    for _ in range(600):
        arguments = inputs(draws, name)
        wanted = outcome(right, name, arguments)
        differs = outcome(wrong, name, arguments) != wanted
        spare = count - len(found)
        if [name, arguments, wanted] in found or (right != wrong and not differs and spare <= 3 - telling):
            continue
        telling += differs
        found.append([name, arguments, wanted])
        if len(found) == count:
            return found
    raise ValueError(f"{name}: no inputs that tell right from wrong")


def changed_line(right: str, wrong: str) -> tuple[str, str]:
    """The one line in which both differ, as it is right and wrong."""
    pairs = zip(right.splitlines(keepends=True), wrong.splitlines(keepends=True), strict=True)
    return next((one, other) for one, other in pairs if one != other)


def instance(draws: Draws) -> dict[str, str]:
    """Some functions of the pool, one or two of them at fault."""
    package, module = draws.choice(NAMES), draws.choice(MODULES)
    names = draws.sample(sorted(POOL), draws.integer(6, 9))
    faulty = names[: draws.integer(1, 2)]
    names = draws.shuffled(names)
    constants = {"A": draws.choice([3, 7, 9]), "B": 1, "C": draws.integer(11, 99), "D": draws.integer(11, 99)}
    constants |= {"E": 10 * draws.integer(5, 40), "F": 100 * draws.integer(3, 20)}

    def made(text: str) -> str:
        for letter, value in constants.items():
            text = text.replace(f"@{letter}@", str(value))
        return text

    right = {name: made(POOL[name][0]) for name in names}
    wrong = right | {name: right[name].replace(*map(made, draws.choice(POOL[name][1]))) for name in faulty}
    bugs = {name: changed_line(right[name], wrong[name]) for name in faulty}
    head = f'"""Small functions of {package}, each on its own."""\n'
    hidden = [case for name in names for case in cases(draws, name, right[name], wrong[name], 10)]
    shown = [case for name in names for case in cases(draws, name, right[name], wrong[name], 5)]
    file = f"{package}/{module}.py"
    given = {
        "examples.py": EXAMPLES.replace("@PACKAGE@", package).replace("@MODULE@", module),
        "examples.json": "".join(json.dumps(case) + "\n" for case in draws.shuffled(shown)),
        f"{package}/__init__.py": f'"""The package {package}."""\n',
    }
    broken = "\n\n".join([head, *(wrong[name] for name in names)])
    expected = {"file": file, "given": given, "module": broken, "faulty": sorted(faulty), "cases": hidden}
    many = len(faulty) > 1
    return (
        shared(__file__, *SHARED)
        | {f"environment/files/{path}": text for path, text in (given | {file: broken}).items()}
        | {
            "instruction.md": INSTRUCTION.format(
                Faults="Two faults" if many else "A fault",
                Functions="Two of them do" if many else "One of them does",
                function="functions" if many else "function",
                package=package,
                module=module,
                count=len(names),
            ),
            "tests/expected.json": expected_text(expected),
            "solution/solve.sh": solution(file, [bugs[name] for name in faulty]),
            "solution/plan.yaml": plan_text(
                f"Repaired in {file}: {' and '.join(faulty)}. All examples pass.",
                plan_steps(file, bugs),
            ),
        }
    )


def solution(file: str, pairs: list[tuple[str, str]]) -> str:
    """Puts the right text back."""
    return f"""#!/bin/bash
set -euo pipefail
python3 -I - <<'PYTHON'
from pathlib import Path

path = Path({file!r})
text = path.read_text(encoding="utf-8")
for right, wrong in {pairs!r}:
    assert text.count(wrong) == 1, wrong
    text = text.replace(wrong, right)
path.write_text(text, encoding="utf-8")
PYTHON
python3 -B examples.py | tail -n 1
"""


def plan_steps(file: str, bugs: dict[str, tuple[str, str]]) -> list[dict]:
    """The examples, the module, an edit for each fault, the examples again."""
    failing = {f"fault{at}": rf"FAILED ({name})\(" for at, name in enumerate(bugs)}
    named = "|".join(f"${{{name}}}" for name in failing)
    return [
        {
            "say": "I try the examples.",
            "run": "python3 -B examples.py",
            "learn": failing,
            "otherwise": "python3 -B examples.py | grep -o 'FAILED [a-z_]*(' | sort -u",
        },
        {"say": "I look at what fails.", "run": f"grep -nE -A 10 'def ({named})' {file}"},
        *(
            {
                "say": f"{name} does not do what its docstring says.",
                "edit": {"path": file, "old": wrong, "new": right},
            }
            for name, (right, wrong) in bugs.items()
        ),
        {
            "say": "I try the examples again.",
            "run": "python3 -B examples.py | tail -n 1",
            "learn": {"failed": "examples, (0) failed"},
        },
    ]
