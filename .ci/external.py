"""What .ci/external must have found, and what two kills in the middle must leave: arguments
are the program, the study, and the folder of the runs."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PROGRAM, STUDY, WORK = sys.argv[1], sys.argv[2], Path(sys.argv[3])
KILLED = "kimi-code"
WIRES = {"chat", "messages", "responses"}
ENOUGH = 5  # tasks that each must solve
LONGEST = 120.0  # seconds to wait for anything
AT_WORK = 1.5  # seconds that it has been seen for


def must(true: object, what: str) -> None:
    """Stop where it is not so."""
    if not true:
        sys.exit(f"WRONG: {what}")
    print(f"as it must be: {what}")


def results(folder: Path) -> list[dict]:
    """The lines of a run."""
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def processes() -> dict[int, int]:
    """Those whose program lies in an installation of a real harness, with parents; none that is asked its version."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            asked = b"--version" in (entry / "cmdline").read_bytes()
            if not asked and "harness-eval/external/" in str((entry / "exe").readlink()):
                found[int(entry.name)] = parent(int(entry.name))
        except OSError:
            continue
    return found


def parent(process: int) -> int:
    """The parent of a process."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def begun_by(process: int, run: int) -> bool:
    """Whether a process descends from a run: nothing else may be killed."""
    try:
        while process > 1 and process != run:
            process = parent(process)
    except OSError:
        return False
    return process == run


def nothing_left(when: str) -> None:
    """No folder, and no process of a real harness."""
    left = sorted(path.name for path in (WORK / "tmp").iterdir())
    must(not left, f"no folder is left {when}{': ' + ', '.join(left) if left else ''}")
    deadline = time.monotonic() + 10
    while (alive := processes().keys() - BEFORE) and time.monotonic() < deadline:
        time.sleep(0.2)
    must(not alive, f"no process of a real harness is left {when}")


def doctor() -> None:
    """Every one of them works here."""
    for each in json.loads((WORK / "doctor.json").read_text())["harnesses"]:
        must(each["state"] == "works", f"{each['harness']} works here {each['why']}".rstrip())


def reported() -> None:
    """What the report and the results say of each."""
    folder = WORK / "run"
    report = json.loads((folder / "report.json").read_text())
    pages = [(folder / name).read_text() for name in ("report.md", "report.html")]
    externals = {each["harness"]: each for each in report["externals"]}
    must(len(externals) >= 4, f"{len(externals)} real harnesses are in the report")
    must({wire for each in externals.values() for wire in each["wires"]} >= WIRES, "all three wires were spoken")
    solved = [(row["harness"], row["task"]) for row in results(folder) if row["solved"]]
    for name, each in externals.items():
        tasks = len({task for harness, task in solved if harness == name})
        must(tasks >= ENOUGH, f"{name} solved {tasks} tasks")
        told = each["thinking"]
        must(told["reason"] is None, f"{name}: thinking history measured: {told['policy']}, {told['due']} due")
        must(each["lock"]["state"] == "same", f"{name}: as locked {'; '.join(each['lock']['changes'])}".rstrip())
        must(all(name in page for page in pages), f"{name} stands in both pages")
    kinds = {each["kind"]: each["harnesses"] for each in report["families"]}
    must(set(kinds["external"]) == set(externals), "they stand together in the report")
    must("canonical" in kinds["levels"] and len(kinds["levels"]) >= 3, "and the harnesses of levels beside them")


def in_docker() -> None:
    """One of them worked in Docker."""
    rows = [row for row in results(WORK / "docker") if row["harness"] == "codex"]
    must(rows and all(row["solved"] for row in rows), f"codex solved {len(rows)} tasks in Docker")


def must_go_on(run: subprocess.Popen, deadline: float) -> None:
    """Stop where there is nothing to wait for."""
    if run.poll() is not None or time.monotonic() > deadline:
        run.kill()
        sys.exit(f"WRONG: {KILLED} was not seen at work")


def kill(what: str) -> Path:
    """Start one trial of a real harness, and kill its process or the whole run when it has begun."""
    folder = WORK / f"killed-{what}"
    arguments = ["--harness", KILLED, "--tasks", "config-migrate", "--sandbox", "bubblewrap"]
    arguments += ["--fault", "overloaded=0.3"]  # requests are repeated after a pause, so that it is at work for long
    environment = {**os.environ, "TMPDIR": str(WORK / "tmp")}
    run = subprocess.Popen(
        [PROGRAM, "run", STUDY, *arguments, "--out", str(folder)], env=environment, stdout=subprocess.DEVNULL
    )
    deadline, since = time.monotonic() + LONGEST, dict[int, float]()
    while not any(time.monotonic() - began > AT_WORK for began in since.values()):
        must_go_on(run, deadline)
        time.sleep(0.1)
        since = {found: since.get(found, time.monotonic()) for found in processes() if begun_by(found, run.pid)}
    victims = [run.pid] if what == "run" else sorted(since)
    for victim in victims:
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            continue
    run.wait(LONGEST)
    return folder


def killed() -> None:
    """Whose it is, and what is left."""
    rows = [row for row in results(kill("agent")) if row["harness"] == KILLED]
    owners = [(row["failure"] or {}).get("owner") for row in rows]
    must(owners and owners[-1] == "harness", f"an agent that is killed is lost to its harness: {owners}")
    nothing_left("by a killed agent")
    kill("run")
    subprocess.run([PROGRAM, "clean"], env={**os.environ, "TMPDIR": str(WORK / "tmp")}, check=True)
    nothing_left("by a killed run, once cleaned")


BEFORE = set(processes())
doctor()
reported()
if (WORK / "docker").exists():
    in_docker()
nothing_left("by the runs")
killed()
