"""A run that is struck at random moments and resumed by the same command, beside one that was left in peace.

python -m benchmarks.kills                                  # some fifteen minutes; KILLS.md
python -m benchmarks.kills --strikes 20 --sandbox bubblewrap --json

Each round is one run of a small study. While it has strikes left, whatever invocation is under way is struck at random
moments; an invocation that ends before all is judged is followed by the same command again. What must hold at the end:
every trial is judged, once, with the verdict of the undisturbed run and a trajectory that can be read; every invocation
ended with an exit code that is documented; nothing of a dead invocation is left. Only processes of the runs are hit,
and a Docker engine that is started for it alone. `bubblewrap-alone` is bubblewrap where control groups cannot be had.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.own_engine import OwnEngine, own_engine
from harness_eval import store
from harness_eval.sandboxes import leftovers
from harness_eval.types import TrialKey

ROOT = Path(__file__).resolve().parents[1]
TASKS, LONGEST = 4, 3.0  # tasks of the study; seconds from one strike to the next, at most
INVOCATIONS = 25  # of one round, after which it counts as never ending
PAGE = Path(__file__).parent / "KILLS.md"
CODES = {0, 2, 3, 130, -signal.SIGKILL}
_PLAN = """done: "The word is written."
steps:
  - {say: "I look around.", run: "cat readme.txt", learn: {word: "the word is ([a-z]+)"}}
  - {say: "I write it.", create: {path: "answer.txt", text: "${word}\\n"}}
  - {say: "I check.", run: "sleep 0.05; cat answer.txt"}
"""
_TEST = """#!/bin/bash
if [ "$(cat answer.txt 2>/dev/null)" = hello ]; then echo 1; else echo 0; fi > "$VERIFIER_DIR/reward.txt"
"""
Verdict = tuple[object, ...]


@dataclass
class Run:
    """One round: the command, where it runs, and what has come of it so far."""

    place: Path
    study: Path
    flags: Sequence[str]
    draws: random.Random
    prefix: Sequence[str] = ()
    engine: OwnEngine | None = None
    process: subprocess.Popen[str] | None = None
    writer: subprocess.Popen[bytes] | None = None
    pids: list[int] = field(default_factory=list)
    ballast: list[Path] = field(default_factory=list)
    struck: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    codes: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        return self.place / "run"

    def start(self) -> subprocess.Popen[str]:
        """The command, from the beginning or to resume."""
        cache = str(self.place / "cache")
        env = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": cache, "KILLS": str(self.place)}
        told = ["-m", "harness_eval", "run", str(self.study), "--out", str(self.folder), *self.flags]
        command = [*self.prefix, sys.executable, *told]
        if self.engine is not None:
            self.engine.wait()
        with self.log.open("a") as log:  # through a pipe, or a limit on the size of files would hold for it too
            writer = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=log, start_new_session=True)
        assert writer.stdin is not None
        with writer.stdin as said:
            process = subprocess.Popen(command, stdout=said, stderr=said, text=True, env=env, start_new_session=True)
        self.process, self.writer = process, writer
        self.pids.append(process.pid)
        return process

    def complete(self) -> bool:
        """Whether every trial is judged."""
        return len(verdicts(self.folder)[0]) == store.read_study(self.folder)["planned"]

    @property
    def log(self) -> Path:
        """What all invocations have said."""
        return self.place.parent / f"{self.place.name}.err"

    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None


_ALONE = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"', "sh")


def small_study(place: Path, sandbox: Sequence[str], repeats: int = 2) -> Path:
    """A study of tasks that take a moment each, in which some trials are not solved."""
    for number in range(TASKS):
        files = {
            "task.toml": 'schema_version = "1.4"\n[environment]\nnetwork_mode = "no-network"\n',
            "instruction.md": f"Task {number} of this suite: write the word that readme.txt names into answer.txt.\n",
            "environment/files/readme.txt": "the word is hello\n",
            "tests/test.sh": _TEST,
            "solution/solve.sh": "#!/bin/bash\necho hello > answer.txt\n",
            "solution/plan.yaml": _PLAN,
        }
        for name, text in files.items():
            path = place / "suite" / f"word-{number}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    kind = {"kind": sandbox[0]} | ({"base_image": sandbox[1]} if len(sandbox) > 1 else {})
    study = {
        "name": "kills",
        "reference": {"couplings": {"needs-thinking": 0.4}},
        "tasks": {"suite": str(place / "suite")},
        "sandbox": kind,
        "family": "demo",
        "design": "smoke",
        "repeats": repeats,
        "concurrency": 4,
    }
    path = place / f"{sandbox[0]}.yaml"
    path.write_text(json.dumps(study))
    return path


def _below(pid: int) -> Iterator[tuple[int, int, str]]:
    """Processes below one: id, depth and command line."""
    todo = [(pid, 0)]
    while todo:
        parent, depth = todo.pop()
        with suppress(OSError):
            children = [each for task in Path(f"/proc/{parent}/task").iterdir() for each in _children(task)]
            for child in children:
                with suppress(OSError):
                    words = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    yield child, depth + 1, words
                    todo.append((child, depth + 1))


def _children(task: Path) -> list[int]:
    return [int(word) for word in (task / "children").read_text().split()]


def _kill_one(run: Run, wanted: Callable[[int, str], bool]) -> bool:
    assert run.process is not None
    found = [pid for pid, depth, words in _below(run.process.pid) if wanted(depth, words)]
    if not found:
        return False
    with suppress(ProcessLookupError):
        os.kill(run.draws.choice(found), signal.SIGKILL)
        return True
    return False


def _signal(*numbers: int) -> Callable[[Run], bool]:
    def strike(run: Run) -> bool:
        assert run.process is not None
        if not _ready(run.process.pid):
            return False
        for number in numbers:
            run.process.send_signal(number)
            time.sleep(run.draws.uniform(0, 0.2) if len(numbers) > 1 else 0)
        try:
            run.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            run.faults.append(f"not ended 60 s after {[signal.Signals(n).name for n in numbers]}")
            return True
        allowed = {-signal.SIGKILL} if numbers == (signal.SIGKILL,) else {130, 0, 2, 3}  # some end just then
        if run.process.returncode not in allowed:
            run.faults.append(f"exit code {run.process.returncode} after {[signal.Signals(n).name for n in numbers]}")
        return True

    return strike


def _ready(pid: int) -> bool:
    """Whether a process has come so far that it answers signals; before that it has begun nothing."""
    with suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text()
        caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
        return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)
    return False


def _box(run: Run) -> bool:
    """The first process of a box or the one that made it; never what runs in it, which is the agent's."""
    return _kill_one(run, lambda depth, words: depth <= 2 and ("bwrap" in words or "-c import" in words))


def _endpoint(run: Run) -> bool:
    return _kill_one(run, lambda depth, words: depth == 1 and "harness_eval.reference" in words)


def _container(run: Run) -> bool:
    shown = ("docker", "ps", "--filter", "label=harness-eval=1", "--format")
    told = subprocess.run(
        [*shown, '{{.ID}} {{.Label "harness-eval.owner"}}'], capture_output=True, text=True, check=False
    )
    ours = [line.split()[0] for line in told.stdout.splitlines() if f".{run.pids[-1]}." in line]
    if not ours:
        return False
    done = subprocess.run(["docker", "kill", run.draws.choice(ours)], capture_output=True, check=False)
    return done.returncode == 0


def _engine(run: Run) -> bool:
    """End the engine, and start it again after a while; its containers are ended by the new one."""
    if run.engine is None:
        return False
    run.engine.kill()
    time.sleep(run.draws.uniform(0, LONGEST))
    run.engine.start()
    return True


def _disk(run: Run) -> bool:
    """Fill the file system of the run's folder, which is a small one of its own."""
    path = run.place / f"ballast{len(run.ballast)}"
    run.ballast.append(path)
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"\0" * 4096)
    return True


def _file_size(run: Run) -> bool:
    """Let no file of the run's process grow further than a little beyond its results, so that a line may be torn."""
    assert run.process is not None
    results = run.folder / "results.jsonl"
    size = results.stat().st_size if results.exists() else 0
    with suppress(ProcessLookupError):
        _, most = resource.prlimit(run.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(run.process.pid, resource.RLIMIT_FSIZE, (size + run.draws.randrange(1500), most))
        return True
    return False


STRIKES: dict[str, Callable[[Run], bool]] = {
    "runner": _signal(signal.SIGKILL),
    "box": _box,
    "endpoint": _endpoint,
    "disk full": _disk,
    "file size": _file_size,
    "interrupt": _signal(signal.SIGINT),
    "interrupt twice": _signal(signal.SIGINT, signal.SIGINT),
    "terminate": _signal(signal.SIGTERM),
    "container": _container,
    "engine": _engine,
}
OF_DOCKER = ("container", "engine")
ANYWHERE = tuple(kind for kind in STRIKES if kind not in (*OF_DOCKER, "box"))
SANDBOXES: dict[str, Sequence[str]] = {
    "bubblewrap": ("box", *ANYWHERE),
    "bubblewrap-alone": ("box", *ANYWHERE),
    "docker": (*OF_DOCKER, "runner", "interrupt twice", "terminate"),
    "local": ("box", *ANYWHERE),
}


def play(run: Run, strikes: Sequence[str]) -> None:
    """Strike until all strikes are used up, and let the last invocation end; one that met nothing counts as missed."""
    left = list(strikes)
    for _ in range(INVOCATIONS):
        process = run.start()
        while left and run.alive():
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=run.draws.uniform(0, LONGEST))
            if run.alive():
                kind = left.pop(0)
                (run.struck if _hit(run, kind) else run.missed)[kind] += 1
        _wait(run, process)
        for each in run.ballast:
            each.unlink(missing_ok=True)
        if process.returncode == 0 and run.complete():  # a few lost trials do not make a run incomplete
            return
    run.faults.append(f"not complete after {INVOCATIONS} invocations")


def _hit(run: Run, kind: str) -> bool:
    """Strike as soon as there is something to hit."""
    end = time.monotonic() + 2 * LONGEST
    while run.alive() and time.monotonic() < end:
        if STRIKES[kind](run):
            return True
        time.sleep(run.draws.uniform(0, 0.3))
    return False


def _wait(run: Run, process: subprocess.Popen[str]) -> None:
    try:
        process.wait(timeout=180)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        run.faults.append("hung for 180 s")
    if run.writer is not None:
        run.writer.wait(timeout=60)  # it ends with the last process that may still say something
    run.codes[process.returncode] += 1
    if process.returncode not in CODES:
        run.faults.append(f"exit code {process.returncode}")


def verdicts(folder: Path) -> tuple[dict[TrialKey, Verdict], list[TrialKey]]:
    """What was judged, and the trials that were judged more than once."""
    judged = [row for row in store.rows(folder) if row["failure"] is None]
    counted = Counter(map(store.key_of, judged))
    told = {store.key_of(row): (row["score"], row["solved"], row["stop"], row["steps"]) for row in judged}
    return told, [key for key, number in counted.items() if number > 1]


def faults(run: Run, expected: dict[TrialKey, Verdict]) -> list[str]:
    """What is not as in the undisturbed run; empty where nothing is."""
    found, twice = verdicts(run.folder)
    said = [f"judged twice: {key}" for key in twice]
    said += [f"lost: {key}" for key in expected.keys() - found.keys()]
    said += [f"made up: {key}" for key in found.keys() - expected.keys()]
    said += [
        f"{key}: {expected[key]}, now {found[key]}" for key in found.keys() & expected if found[key] != expected[key]
    ]
    said += [f"no trajectory: {key}" for key in found if store.read_trajectory(run.folder, key) is None]
    torn = [line for line in (run.folder / store.RESULTS).read_bytes().splitlines() if not line.endswith(b"}")]
    said += [f"torn lines: {len(torn)}"] if torn else []
    log = run.log.read_text()
    number = log.count("Traceback") - log.count("BrokenPipeError")  # an endpoint that starts for a run that is dead
    said += [f"tracebacks: {number}"] if number else []
    return [*run.faults, *said, *_left(run)]


def _left(run: Run) -> list[str]:
    with leftovers.found() as (things, _):
        dead = [each for each in things if any(f".{pid}." in each.name for pid in run.pids)]
    return [f"left: {each.what} {each.name}" for each in dead] + [f"alive: {pid}" for pid in _marked(run)]


def _marked(run: Run) -> list[int]:
    """Processes that an invocation has started and that are still there."""
    mark, alive = f"KILLS={run.place}\0".encode(), []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes():
                alive.append(int(entry.name))
    return alive


@contextmanager
def small_disk(place: Path, megabytes: int = 16) -> Iterator[bool]:
    """A folder that is a file system of its own, where this process may mount one; whether it is."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)]
    mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(place)], check=True)


@dataclass
class Totals:
    """Over all rounds, by sandbox and kind."""

    rounds: int = 0
    trials: int = 0
    struck: Counter[tuple[str, str]] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    codes: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add(self, place: str, run: Run, said: Sequence[str]) -> None:
        self.rounds += 1
        self.struck += Counter({(place, kind): number for kind, number in run.struck.items()})
        self.missed += run.missed
        self.codes += run.codes
        self.faults += [f"round {self.rounds} ({place}): {each}" for each in said]

    def of_kind(self, kind: str) -> int:
        return sum(number for (_, each), number in self.struck.items() if each == kind)


@dataclass
class Setting:
    """A sandbox with its study, and what the undisturbed run in it has judged."""

    name: str
    kinds: Sequence[str]
    study: Path
    prefix: Sequence[str] = ()
    engine: OwnEngine | None = None
    expected: dict[TrialKey, Verdict] = field(default_factory=dict)

    def run(self, place: Path, options: argparse.Namespace, draws: random.Random) -> Run:
        return Run(place, self.study, options.flags, draws, self.prefix, self.engine)


def settings(place: Path, options: argparse.Namespace, opened: ExitStack, draws: random.Random) -> list[Setting]:
    """All sandboxes, each with its undisturbed run."""
    found = []
    for name in options.sandbox:
        kind = "bubblewrap" if name == "bubblewrap-alone" else name
        engine = opened.enter_context(own_engine(options.base_image)) if kind == "docker" else None
        study = small_study(place, [kind, options.base_image] if engine else [kind], options.repeats)
        kinds = [each for each in SANDBOXES[name] if options.kinds is None or each in options.kinds]
        setting = Setting(name, kinds, study, _ALONE if name == "bubblewrap-alone" else (), engine)
        (place / f"calm-{name}").mkdir()
        calm = setting.run(place / f"calm-{name}", options, draws)
        play(calm, ())
        setting.expected, _ = verdicts(calm.folder)
        print(f"{name}: {len(setting.expected)} trials", file=sys.stderr, flush=True)
        found.append(setting)
    return found


def measure(place: Path, options: argparse.Namespace) -> Totals:
    """Rounds until there were so many strikes, each where the fewest have been."""
    draws, totals = random.Random(options.seed), Totals()
    with ExitStack() as kept:
        there = settings(place, options, kept, draws)
        totals.trials = len(there[0].expected)
        while totals.struck.total() < options.strikes and totals.rounds < options.strikes:
            setting = min(there, key=lambda each: (_rare(totals, each), draws.random()))
            with ExitStack() as opened:
                where = place / f"round{totals.rounds}"
                mounted = "disk full" in setting.kinds and opened.enter_context(small_disk(where))
                where.mkdir(exist_ok=True)
                kinds = [kind for kind in setting.kinds if mounted or kind != "disk full"]
                run = setting.run(where, options, draws)
                least = sorted(kinds, key=lambda kind: (totals.of_kind(kind), draws.random()))
                play(run, draws.sample(least[: options.each], k=min(options.each, len(least))))
                totals.add(setting.name, run, faults(run, setting.expected))
                print(f"{totals.struck.total()} strikes, {len(totals.faults)} faults", file=sys.stderr, flush=True)
    return totals


def _rare(totals: Totals, setting: Setting) -> tuple[int, int]:
    """How often the rarest strike of a sandbox has been made anywhere, and how many have been made in it."""
    own = sum(number for (name, _), number in totals.struck.items() if name == setting.name)
    return min(totals.of_kind(kind) for kind in setting.kinds), own


_PAGE = """# Struck at random moments, and resumed

`python -m benchmarks.kills --strikes {strikes} --seed {seed} --sandbox {sandboxes}`:
{rounds} runs of {trials} trials, struck {struck} times. Each was resumed by the same command until all trials were
judged, and held against a run that was left in peace.

**Not as in the undisturbed run: {number}.** Compared are verdict, stop and number of steps of each trial; that each is
judged, and once; that its trajectory can be read; that exit codes are documented ones; that no line is torn, and no
process, container, control group or folder of a dead run is left.
{faults}
| strike | {names} | all |
|---|{bars}
{rows}

Exit codes of the {invocations} invocations: {codes}. Strikes that met nothing to hit are not counted above: {missed}.
`runner` is SIGKILL. `disk full` and `file size` let writes fail, the latter in the middle of a line. `engine` is
SIGKILL to a Docker engine of the benchmark's own, started again within {longest:g} s; `container` and `box` end
one box. In bubblewrap-alone control groups cannot be had.
"""


def page(totals: Totals, options: argparse.Namespace) -> str:
    """KILLS.md."""
    names = list(options.sandbox)
    rows = [
        [kind, *(str(totals.struck[name, kind] or "") for name in names), str(totals.of_kind(kind))]
        for kind in STRIKES
        if totals.of_kind(kind)
    ]
    return _PAGE.format(
        strikes=options.strikes,
        seed=options.seed,
        sandboxes=" ".join(names),
        rounds=totals.rounds,
        trials=totals.trials,
        struck=totals.struck.total(),
        number=len(totals.faults) or "nothing",
        faults="".join(f"- {each}\n" for each in totals.faults),
        names=" | ".join(names),
        bars="---:|" * (len(names) + 1),
        rows="\n".join(f"| {' | '.join(row)} |" for row in rows),
        invocations=totals.codes.total(),
        codes=", ".join(f"{number} with {code}" for code, number in sorted(totals.codes.items())),
        missed=totals.missed.total(),
        longest=LONGEST,
    )


def main() -> int:
    """Print what was done and what was found; 1 where anything was."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--strikes", type=int, default=60)
    parser.add_argument("--each", type=int, default=5, help="strikes in one round")
    parser.add_argument("--kinds", nargs="+", choices=sorted(STRIKES), help="all that the sandbox allows by default")
    parser.add_argument(
        "--sandbox", nargs="+", choices=sorted(SANDBOXES), default=["bubblewrap", "bubblewrap-alone", "docker"]
    )
    parser.add_argument("--base-image", default="harness-eval-base", help="for docker; taken from the usual engine")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a new folder for all runs, which stays")
    parser.add_argument("--json", action="store_true", help="print what was found, and write no page")
    parser.add_argument("flags", nargs="*", default=[], help="further flags of `run`, behind --")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored, by the runs too
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started is ended, too
    place = options.keep or Path(tempfile.mkdtemp(prefix="kills-"))
    place.mkdir(parents=True, exist_ok=True)
    try:
        totals = measure(place.resolve(), options)
    finally:
        if options.keep is None:
            shutil.rmtree(place, ignore_errors=True)
    if options.json:
        told = {name: getattr(totals, name) for name in ("rounds", "trials", "missed", "codes", "faults")}
        struck = {f"{kind} in {name}": number for (name, kind), number in sorted(totals.struck.items())}
        print(json.dumps({**told, "struck": struck}, indent=2))
    else:
        PAGE.write_text(page(totals, options))
        print(f"{totals.struck.total()} strikes, {len(totals.faults)} faults: {PAGE.name}")
    return 1 if totals.faults else 0


if __name__ == "__main__":
    sys.exit(main())
