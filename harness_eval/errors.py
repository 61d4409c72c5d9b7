"""The exception tree, and the one place where any exception becomes a failure with an owner.

HarnessEvalError
├── ConfigError             the user's file, flag or environment is wrong (exit code 2)
├── ContextOverflow         the view does not fit the model's window: a result, not a failure
└── BoundaryFailure         a trial is lost; `owner` says who must act
    ├── EndpointFailure     provider, gateway or serving
    │   └── EndpointDown    no further call can succeed (wrong key, quota, unknown model): the run stops
    ├── SandboxFailure
    ├── TaskFailure         verifier or environment of the task
    └── HarnessFailure      our own code, or a harness this endpoint refuses
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from harness_eval.types import Owner, Trajectory

LAST_WORDS = 2000  # characters of a program's output that go into a verdict or a failure
# Every repetition has a bound or ends at a character of its own, so that the search takes time linear in the text.
_SECRET = re.compile(
    r"(?i)(bearer\s{1,9}|\bauthorization[\"'=:\s]{1,9}(?:(?:bearer|basic|token)\s{1,9})?"
    r"|(?:api[-_]?key|(?:auth|access|refresh|session|secret|security)[-_](?:token|key))[\"'=:\s]{1,9}"
    r"|[?&;](?:key|token|sig|signature|secret|password)=)"
    r"([^\s\"',;}&]{6,})"
    r"|(?<=://)[^\s\"'/@?#]{1,256}(?=@)"  # who asks, in an address
    r"|(?-i:(?<![A-Za-z0-9])(?:sk-[\w-]{8,}|gh[opusr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|hf_\w{16,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}|xox[a-z]-[\w-]{8,}|AIza[\w-]{30,}|eyJ[\w-]{8,}\.[\w.-]{8,}))"
)

_CHOICES = 8  # choices that one hint names


def redact(text: str) -> str:
    """The text with everything that looks like a credential replaced, for logs, reports and exception messages."""
    return _SECRET.sub(lambda match: f"{match.group(1) or ''}[redacted]", text)


def nearest(word: str, choices: Iterable[str]) -> str:
    """A hint such as ``did you mean 'head'? choices: head, tail`` for an unknown word; of many choices the nearest."""
    known = sorted(choices)
    close = difflib.get_close_matches(word, known, n=_CHOICES, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    if len(known) <= _CHOICES:
        return f"{hint}choices: {', '.join(known)}"
    shown = [*close, *(choice for choice in known if choice not in close)][:_CHOICES]
    return f"{hint}choices: {', '.join(shown)}, and {len(known) - _CHOICES} more"


def listed(names: Sequence[str], most: int) -> str:
    """Names for a message: at most so many, then how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def last_words(output: str, most: int = LAST_WORDS) -> str:
    """The end of what a program printed: at most so many characters, without credentials.

    Of a line that was written over, as progress is, what a terminal would show last.
    """
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in output.split("\n"))
    return redact("\n".join(lines).strip()[-most:])


class HarnessEvalError(Exception):
    """Base of all errors that this package raises on purpose; `label` names what happened, or is ""."""

    label: str = ""


class ConfigError(HarnessEvalError):
    """A file, flag or environment is wrong; the message names the file, the key and the nearest valid choice."""


class ContextOverflow(HarnessEvalError):
    """The server says that the prompt is longer than the model's window."""


class BoundaryFailure(HarnessEvalError):
    """A trial is lost, and `owner` must act; `record` is how far the agent had come, where it had begun."""

    owner: Owner = "harness"
    record: Trajectory | None = None

    def __init__(self, message: str) -> None:
        super().__init__(redact(message))


class EndpointFailure(BoundaryFailure):
    """The endpoint did not give a usable reply within its retries; `faults` labels the attempts but the last."""

    owner: Owner = "endpoint"
    faults: tuple[str, ...] = ()


class EndpointDown(EndpointFailure):
    """No further call to this endpoint can succeed in this run."""


class SandboxFailure(BoundaryFailure):
    """The sandbox could not be made, or broke."""

    owner: Owner = "sandbox"


class TaskFailure(BoundaryFailure):
    """The task's environment or verifier is broken, so that it cannot judge."""

    owner: Owner = "task"


class HarnessFailure(BoundaryFailure):
    """A bug of ours, or a harness that this endpoint refuses."""

    owner: Owner = "harness"


_BY_OWNER: dict[Owner, type[BoundaryFailure]] = {
    "endpoint": EndpointFailure,
    "sandbox": SandboxFailure,
    "task": TaskFailure,
    "harness": HarnessFailure,
}


@contextmanager
def boundary(owner: Owner) -> Iterator[None]:
    """Turn whatever is raised inside into a failure of `owner`; our own errors pass unchanged.

    Raises:
        BoundaryFailure: for any other exception, with its type and text (credentials removed).
    """
    try:
        yield
    except HarnessEvalError:
        raise
    except Exception as error:
        raise _BY_OWNER[owner](f"{type(error).__name__}: {error}") from error
