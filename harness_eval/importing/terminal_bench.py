"""The results of Terminal-Bench runs (one results.json a run) and of Harbor jobs (one result.json a trial)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from harness_eval import recording
from harness_eval.errors import ConfigError, nearest
from harness_eval.importing.attempts import Attempt, Found, Wishes, distinct_names, lost, name_of, text_of
from harness_eval.importing.cells import proportion
from harness_eval.importing.foreign import counted, mapping, mappings, measured, read_bytes
from harness_eval.importing.kinds import RESULTS, files
from harness_eval.types import Json, Lost, Owner, StopReason, Usage

# What an exception of Harbor or a failure of Terminal-Bench says of the agent: these are results.
_STOPS = {
    "AgentTimeoutError": StopReason.TIME,
    "ContextWindowExceededError": StopReason.OVERFLOW,
    "ContextLengthExceededError": StopReason.OVERFLOW,
    "OutputTokenExceededError": StopReason.TOKENS,
    "OutputLengthExceededError": StopReason.TOKENS,
    "agent_timeout": StopReason.TIME,
    "context_length_exceeded": StopReason.OVERFLOW,
    "output_length_exceeded": StopReason.TOKENS,
    "fatal_llm_parse_error": StopReason.MALFORMED,
}
# And whose failure everything else is, by words in its name; the first that is found.
_OWNERS: Mapping[Owner, re.Pattern[str]] = {
    "harness": re.compile("AgentSetup|[Ii]nstallation|Missing|Import|Cancelled|Regrade|agent_error"),
    "task": re.compile("Verifier|Reward|test_timeout|parse_error"),
    "sandbox": re.compile("Sandbox|Environment|Memory|SSH|GKE|Health|Docker|Runtime|Dir|Vercel|ServiceOperations"),
    "endpoint": re.compile(
        "A[Pp][Ii]|RateLimit|Network|Auth|Permission|NotFound|Server|Unavailable|Budget|Request|Un[sp]|^Timeout$"
    ),
}


@dataclass(frozen=True, slots=True)
class _Agent:
    """Who made an attempt, with what tells agents of one name apart."""

    name: str
    arguments: Mapping[str, Json]


def read_jobs(sources: Sequence[Path], wishes: Wishes) -> Found:
    """The attempts of runs and jobs, whichever of both the files are.

    Raises:
        ConfigError: a file is damaged, or does not say what it must.
    """
    pairs: list[tuple[_Agent, Attempt]] = []
    for source, path in files(sources, RESULTS):
        record = _record(path)
        where = str(path.relative_to(source)) if source.is_dir() else path.name
        if "trial_name" in record and "agent_info" in record:
            pairs.append(_of_harbor(record, where, wishes))
        elif isinstance(record.get("results"), list):
            pairs += _of_run(record["results"], path.parent, where, wishes)
        elif "is_resolved" in record and not _summed(path):
            pairs += _of_run([record], path.absolute().parents[:3][-1], where, wishes)
    names = distinct_names((agent.name, agent.arguments) for agent, _ in pairs)
    attempts = [
        replace(attempt, harness=wishes.harness or names[agent.name, text_of(agent.arguments)])
        for agent, attempt in pairs
    ]
    if not attempts:
        raise ConfigError(f"{sources[0]}: holds no trial of Terminal-Bench or Harbor")
    return Found(tuple(attempts), _remarks(pairs))


def _remarks(pairs: Sequence[tuple[_Agent, Attempt]]) -> tuple[str, ...]:
    failed = sum(attempt.failure is not None for _, attempt in pairs)
    if not failed:
        return ()
    return (f"{failed} of {len(pairs)} trials have no verdict that counts; whose they are was told by their errors",)


def _record(path: Path) -> dict[str, Json]:
    value = recording.load_or_none(read_bytes(path))
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: must hold a JSON object")
    return value


def _of_harbor(record: Mapping[str, Json], where: str, wishes: Wishes) -> tuple[_Agent, Attempt]:
    """One trial of a Harbor job; an agent is told apart by its version and the arguments it was given."""
    info = mapping(record.get("agent_info"))
    settings = mapping(mapping(record.get("config")).get("agent"))
    agent = _Agent(
        name_of(info.get("name"), f"{where}: agent_info.name"),
        {"version": info.get("version"), **mapping(settings.get("kwargs"))},
    )
    model = wishes.model or mapping(info.get("model_info")).get("name") or settings.get("model_name")
    if not model:
        raise ConfigError(f"{where}: agent_info.model_info: names no model; say which with --model NAME")
    contexts = [mapping(each.get("agent_result")) for each in (record, *_steps(record))]
    score, failure, stop = _harbor_verdict(record, where, wishes)
    return agent, Attempt(
        name_of(model, f"{where}: agent_info.model_info.name"),
        agent.name,
        name_of(record.get("task_name"), f"{where}: task_name"),
        score=score,
        failure=failure,
        stop=stop,
        usage=Usage(
            prompt=int(_total(contexts, "n_input_tokens") or 0),
            completion=int(_total(contexts, "n_output_tokens") or 0),
            cached=int(_total(contexts, "n_cache_tokens") or 0),
        ),
        cost=_total(contexts, "cost_usd"),
        seconds=_seconds(record.get("started_at"), record.get("finished_at")),
        suite=str(record.get("source") or ""),
    )


def _steps(record: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    """The parts of a trial of several steps, each with an agent's result of its own."""
    return mappings(record.get("step_results"))


def _harbor_verdict(
    record: Mapping[str, Json], where: str, wishes: Wishes
) -> tuple[float | None, Lost | None, str | None]:
    """Score, failure and stop reason. Where an error is the machines', a reward beside it counts for nothing."""
    rewards = mapping(mapping(record.get("verifier_result")).get("rewards"))
    error = next(
        (mapping(each.get("exception_info")) for each in (record, *_steps(record)) if each.get("exception_info")), {}
    )
    kind = str(error.get("exception_type") or "")
    stop = _STOPS.get(kind)
    owner = None if stop or not kind else _owner(kind)
    valid = mapping(error.get("policy")).get("has_valid_reward", stop is not None or owner is None)
    if kind and not valid:
        return None, _lost(owner or "harness", kind, error.get("exception_message")), None
    if rewards:
        return _reward(rewards, where, wishes), None, stop or (None if kind else StopReason.FINISHED)
    if stop:
        return 0.0, None, stop
    if kind:
        return None, _lost(owner or "harness", kind, error.get("exception_message")), None
    return None, _lost("task", "no reward", "the verifier left none"), None


def _reward(rewards: Mapping[str, Json], where: str, wishes: Wishes) -> float:
    key = wishes.scorer or ("reward" if "reward" in rewards or len(rewards) != 1 else next(iter(rewards)))
    if key not in rewards:
        raise ConfigError(
            f"{where}: verifier_result.rewards: no {key!r}; {nearest(key, rewards)}; choose with --scorer"
        )
    return proportion(rewards[key], f"{where}: verifier_result.rewards.{key}")


def _summed(path: Path) -> bool:
    """Whether the results of a single trial stand in its run's file too, as they do once that has ended."""
    return any((above / "results.json").is_file() for above in path.absolute().parents[1:3])


def _of_run(trials: Sequence[Json], folder: Path, where: str, wishes: Wishes) -> Iterator[tuple[_Agent, Attempt]]:
    """Trials of a Terminal-Bench run; run_metadata.json in its folder names agent and model."""
    beside = folder / "run_metadata.json"
    told = _record(beside) if beside.is_file() else {}
    model, name = wishes.model or told.get("model_name"), wishes.harness or told.get("agent_name")
    for given, what in ((model, "model"), (name, "harness")):
        if not given:
            raise ConfigError(
                f"{where}: no run_metadata.json of its run names its {what}; say which with --{what} NAME"
            )
    agent = _Agent(name_of(name, f"{where}: agent_name"), mapping(told.get("agent_kwargs")))
    for number, trial in enumerate(trials, start=1):
        place = f"{where}: results, entry {number}"
        yield agent, _of_trial(mapping(trial), place, name_of(model, f"{where}: model_name"), agent.name)


def _of_trial(trial: Mapping[str, Json], where: str, model: str, agent: str) -> Attempt:
    mode, solved = str(trial.get("failure_mode") or "unset"), trial.get("is_resolved")
    stop = _STOPS.get(mode)
    failure = None
    if solved is not True and not stop and (solved is None or mode not in ("unset", "none", "unknown")):
        failure = _lost(_owner(mode) or "task", mode, "no verdict" if solved is None else "not resolved")
    return Attempt(
        model,
        agent,
        name_of(trial.get("task_id"), f"{where}: task_id"),
        score=None if failure else float(solved is True),
        failure=failure,
        stop=stop or (None if failure else StopReason.FINISHED),
        usage=Usage(counted(trial.get("total_input_tokens")), counted(trial.get("total_output_tokens"))),
        seconds=_seconds(trial.get("agent_started_at"), trial.get("agent_ended_at")),
    )


def _owner(kind: str) -> Owner | None:
    return next((owner for owner, words in _OWNERS.items() if words.search(kind)), None)


def _lost(owner: Owner, kind: str, message: Json) -> Lost:
    return lost(owner, f"{kind}: {message or 'nothing more was said'}")


def _total(contexts: Sequence[Mapping[str, Json]], key: str) -> float | None:
    known = [value for each in contexts if (value := measured(each.get(key))) is not None]
    return sum(known) if known else None


def _seconds(start: Json, end: Json) -> float:
    try:
        return max(0.0, (datetime.fromisoformat(str(end)) - datetime.fromisoformat(str(start))).total_seconds())
    except (ValueError, TypeError):
        return 0.0
