"""Replays the journal against the runbook, then compares the report."""

import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workspace import digest_of, text

GIVEN = {
    "RUNBOOK.md": "e225d9859fbc42212b091073a0dc771e4db49fddbaea8b1314e2ad8ef63d60d6",
    "fleet/nodes.b85": "22bbcdd86c1c7a25a2e370b2a65fd2e8216a46f6397c1996008310bbae1184f5",
    "fleet.py": "b4dfd560475150bd3f80832f7181206772f7ef272ed20de96aadaa2b2db1070e",
}
UPGRADES = [
    ["n3", "fast"],
    ["n5", "slow"],
    ["n1", "rescue"],
    ["n6", "slow"],
    ["n6", "rescue"],
    ["n2", "fast"],
    ["n4", "rescue"],
]
NODES = [
    ["n3", "3.9.2", "fast"],
    ["n5", "3.8.11", "slow"],
    ["n1", "3.9.4", "rescue"],
    ["n6", "3.9.7", "rescue"],
    ["n2", "3.7.0", "fast"],
    ["n4", "3.8.16", "rescue"],
]


def digest(*words: str) -> str:
    """Twelve digits that only depend on these words, as the tool makes them."""
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:12]


def journal() -> list[tuple[str, list[str]]]:
    """What was done, once the seals fit and it ends with the certificate."""
    seal, done = "", []
    for line in text("fleet/journal.jsonl").splitlines():
        entry = json.loads(line)
        seal = digest(seal, entry["operation"], *entry["words"])
        assert entry["seal"] == seal, "the journal was changed by hand"
        done.append((entry["operation"], list(entry["words"])))
    assert done[-1][0] == "certify", "the last thing done is not the certificate"
    return done


def certificate() -> str:
    """The certificate that belongs to the journal."""
    journal()
    return digest("certificate", json.loads(text("fleet/journal.jsonl").splitlines()[-1])["seal"])


def report() -> dict[str, Any]:
    """The solver's report, with exactly the keys that were asked for."""
    found = json.loads(text("report.json"))
    assert sorted(found) == ["certificate", "nodes", "retried"], f"the keys are {sorted(found)[:5]}"
    return dict(found)


def upgraded() -> None:
    """Every node in its order by its channel, the one that was rolled back once more, and no other twice."""
    found = [words[:2] for operation, words in journal() if operation == "upgrade"]
    assert found == UPGRADES, f"upgrades were {found}"


def one_at_a_time() -> None:
    """Never two nodes drained at once, and none at the end."""
    drained: set[str] = set()
    for operation, words in journal():
        if operation == "drain":
            drained.add(words[0])
        elif operation == "resume":
            drained.discard(words[0])
        assert len(drained) < 2, f"{sorted(drained)} were drained at once"
    assert not drained, f"{sorted(drained)} are still drained"


def nodes() -> None:
    """The releases that can be seen no more, and the channels."""
    assert report()["nodes"] == NODES, f"nodes are {report()['nodes']}"


def ending() -> None:
    """Who was upgraded twice, and the certificate of just this journal."""
    assert report()["retried"] == ["n6"], f"retried are {report()['retried']}"
    assert report()["certificate"] == certificate(), "the certificate is another one"


def untouched() -> None:
    """The files that were given, by digest; no new ones."""
    for name, wanted in GIVEN.items():
        assert digest_of(name) == wanted, name
    found = {path.as_posix() for path in Path().rglob("*") if not path.is_dir() and "__pycache__" not in path.parts}
    new = found - set(GIVEN) - {"report.json", "fleet/state.json", "fleet/journal.jsonl"}
    assert not new, f"new: {sorted(new)[:5]}"


GOALS = (upgraded, one_at_a_time, nodes, ending)
KEPT = (untouched,)


def holds(check: Callable[[], None]) -> bool:
    """Whether a check passes; whatever stands in its way is the solver's."""
    try:
        check()
    except (AssertionError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as problem:
        print(ascii(f"{check.__name__}: {type(problem).__name__} {problem}")[:300])
        return False
    except subprocess.SubprocessError as problem:
        print(ascii(f"{check.__name__}: {type(problem).__name__}"))
        return False
    return True


verdict = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
verdict.write_text("0\n", encoding="utf-8")
reached = [holds(check) for check in GOALS]
kept = [holds(check) for check in KEPT]
verdict.write_text(f"{sum(reached) / len(reached) * (0.5 if False in kept else 1.0):.4f}\n", encoding="utf-8")
