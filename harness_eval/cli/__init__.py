"""The command line: one module a command, imported only when it is the one that was asked for.

Exit codes: 0 good, 1 the check says no, 2 usage or configuration, 3 the run is incomplete, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from harness_eval import __version__
from harness_eval.errors import ConfigError
from harness_eval.report.columns import inert
from harness_eval.report.wording import printable

COMMANDS = {
    "run": "Run a matrix of tasks and harnesses; without a study, the demo on the embedded reference endpoint.",
    "probe": "Ask an endpoint a few things before trials are paid for: what it can do, and which harnesses it refuses.",
    "plan": "Print the matrix of a study, its size and price; nothing is called.",
    "report": "Write report.md, report.html and report.json again from a run's recorded results.",
    "import": "Report results obtained elsewhere: a table, logs of Inspect, jobs of Terminal-Bench or Harbor.",
    "trace": "Say what each change between the canonical harness and a run's worst one costs, run one by one.",
    "compare": "Compare two runs, paired by task and harness: what moved, and whether it is more than noise.",
    "compat": "Collect runs in a matrix of models and harnesses: compatible, degraded, broken, unclear or unsupported.",
    "show": "List the trials of a run, show one trial step by step, or two of one task beside each other.",
    "view": "Look at a run in the browser: its trials, one step by step, or two side by side.",
    "diagnose": "Label recorded exchanges: what each turn was, whose it is, and what it does to a score.",
    "baseline": "Keep what a check needs of a run as a small file: the baseline that later runs are held against.",
    "check": "Say whether something became worse since a baseline: pass, fail or inconclusive, for CI.",
    "replay": "Check a recorded run against today's code, or run it again on its recorded replies; nothing is asked.",
    "axes": "List all axes and their levels.",
    "harness": "List, show and compare harnesses.",
    "tasks": "List tasks, and check that they can judge.",
    "clean": "Remove what runs that were killed have left on this machine: containers, folders, processes.",
    "serve": "Run the reference endpoint on its own.",
}
"""Each command with the line that stands for it in the overview; its module has the same name (or `import_`)."""


_INTERRUPTED = 130


class _Group(TyperGroup):
    """Knows all commands by their line above; a command's module is imported when it is invoked."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        if name in COMMANDS:
            module = import_module(f"harness_eval.cli.{name}{'_' * iskeyword(name)}")  # lazy: slow import
            command = typer.main.get_command(module.app)
        return name, command, rest


app = typer.Typer(cls=_Group, add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)

for _name, _summary in COMMANDS.items():
    app.command(_name, help=_summary)(lambda: None)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _overview(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Measure how robust an agent model is to the harness around it: worst integration, spread, cause."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit.

    Raises:
        SystemExit: always, with the exit code.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin with it ignored
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))  # boxes are closed as for Ctrl-C
    try:
        typer.main.get_command(app).main(args=arguments, prog_name="harness-eval")
    except ConfigError as error:
        _say(f"error: {error}")
        sys.exit(2)
    except BrokenPipeError:
        raise
    except OSError as error:  # a file that is a folder, a full disk, a place that may not be read
        _say(f"error: {printable(error.filename or 'system')}: {error.strerror or error}")
        sys.exit(2)
    except KeyboardInterrupt:  # before the command had begun, or while it ended
        sys.exit(_INTERRUPTED)
    finally:
        _flush()
        if arguments is None:
            _end_in_peace()


def _end_in_peace() -> None:
    """Let no signal change the exit code of a process that has nothing left to do, while Python takes its time to end.

    Python gives back signals that it answers before it has ended; those that are ignored stay so. It interrupts itself
    where one had come while it ran code from a string, which dataclasses do: blocked, that leaves the exit code at 130.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _say(text: str) -> None:
    print(inert(printable(text, keep="\n")), file=sys.stderr)


def _flush() -> None:
    """Write out what is buffered now, where a reader that went away can still be borne in silence."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
