"""`harness-eval tasks`: list tasks, and check that they can judge."""

from __future__ import annotations

from typing import Annotated

import anyio
import typer

from harness_eval import bundled
from harness_eval.cli.output import JsonFlag, print_json, print_table, say
from harness_eval.cli.tasks_new import new
from harness_eval.judging import Proof
from harness_eval.proving import prove_all
from harness_eval.reference.plan import load_plan
from harness_eval.sandboxes import provider
from harness_eval.task import Task, load_suite
from harness_eval.types import Json

app = typer.Typer(add_completion=False, no_args_is_help=True, help="List tasks, and check that they can judge.")
_Suite = Annotated[str, typer.Argument(metavar="[SUITE|FOLDER]", help="A bundled suite or task, or a folder.")]

app.command()(new)


@app.command("list")
def list_all(
    suite: Annotated[str | None, typer.Argument(metavar="[SUITE|FOLDER]", help="Default: all suites.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """List tasks with what they stress."""
    tasks = [task for name in ([suite] if suite else suites()) for task in load_suite(name)]
    if as_json:
        print_json({"tasks": [_summary(task) for task in tasks]})
        return
    columns = ("suite", "task", "difficulty", "stresses", "cannot run here because")
    print_table(columns, ((t.suite, t.name, t.difficulty, ", ".join(t.stresses), t.unsupported or "") for t in tasks))


def suites() -> list[str]:
    """The names of the suites that travel with the package."""
    return sorted(path.name for path in bundled.folder("tasks").iterdir() if path.is_dir())


@app.command()
def check(
    suite: _Suite = "core",
    sandbox: Annotated[str, typer.Option(help="auto, docker, bubblewrap or local.")] = "auto",
    as_json: JsonFlag = False,
) -> None:
    """Prove each task: untouched it is not solved, after its own solution it is. Exit code 1 if one fails."""
    tasks = load_suite(suite)
    for task in tasks:
        if (task.folder / "solution" / "plan.yaml").exists():
            load_plan(task.folder / "solution" / "plan.yaml")
    chosen = provider(sandbox)
    say(f"proving {len(tasks)} tasks in the {chosen.name} sandbox")
    proofs = anyio.run(
        prove_all, tasks, chosen, lambda task, proof: say(f"{'ok    ' if proof.ok else 'broken'} {task.name}")
    )
    results = [_proven(task, proof) for task, proof in zip(tasks, proofs, strict=True)]
    if as_json:
        print_json({"sandbox": chosen.name, "tasks": results, "ok": all(proof.ok for proof in proofs)})
    else:
        print_table(("task", "untouched", "solved", "ok", "detail"), [list(each.values()) for each in results])
    raise typer.Exit(0 if all(proof.ok for proof in proofs) else 1)


def _proven(task: Task, proof: Proof) -> dict[str, Json]:
    untouched = proof.untouched.score if proof.untouched else None
    solved = proof.solved.score if proof.solved else None
    return {"task": task.name, "untouched": untouched, "solved": solved, "ok": proof.ok, "detail": proof.detail}


def _summary(task: Task) -> dict[str, Json]:
    return {
        "name": task.name,
        "suite": task.suite,
        "digest": task.digest,
        "stresses": task.stresses,
        "difficulty": task.difficulty,
        "unsupported": task.unsupported,
    }
