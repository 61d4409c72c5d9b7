"""One request is handed from service to service; every log knows one step of it, and that under a ticket of its own.

Drawn: the services and their order, 9 to 11 hops, tickets, workers, waiting times, the rotation that holds each hop.
"""

import hashlib

from harness_eval.draws import Draws, draw
from harness_eval.templates import expected_text, plan_text, setup_text, shared

SHARED = ("task.toml", "environment/Dockerfile", "tests/test.sh", "tests/check.py")
NAMES = """address archive basket billing catalog courier credit currency customs depot insurance invoice ledger loyalty
mailer notify packing pricing quota refund routing stock tariff voucher"""
INSTRUCTION = """# Where did this request fail?

A request came in at the service `{first}` and failed somewhere deep inside. `logs/` holds the logs of all services,
each in three files: `NAME.log` is the newest, `NAME.log.1` is older, `NAME.log.2` oldest.

Inside a service, a worker (`w1` to `w6`) takes a ticket, works on it alone, and takes no other one before it is done
with it: it finishes the ticket, or forwards the work to another service, or fails. Forwarding gives the work a new
ticket, which the next service then takes:

    w3 takes ticket t-4021
    w3 forwards to stock as ticket t-1180 after 47 ms

Each service counts its tickets for itself: the same number in the logs of another service is another ticket. Other
workers write in between, and other requests fail too. A job is never split over two files.

Follow the request that `{first}` took as **ticket {ticket}** until it fails. Write `trace.json`, one object with
exactly these keys:

- `services`: the names of all services that worked on it, in order, `{first}` first,
- `workers`: the worker of each of them, in the same order,
- `waited_ms`: the sum of all the milliseconds (`after N ms`) of its jobs, the one that failed included,
- `code`: the code with which it failed, such as `K-1234`.

Leave `logs/` as it is.
"""


SOLUTION = """#!/bin/bash
set -euo pipefail
python3 -I - <<'PYTHON'
import json
import re
from pathlib import Path

jobs = {}
for path in Path("logs").iterdir():
    service, taken = path.name.split(".")[0], {}
    for line in path.read_text(encoding="utf-8").splitlines():
        worker, text = line.split(" ", 3)[2:]
        if text.startswith("takes ticket "):
            taken[worker] = text.split()[-1]
        elif done := re.fullmatch(r"(?:finishes|forwards|fails).* after (\\d+) ms", text):
            jobs[service, taken.pop(worker, "")] = (worker, int(done[1]), text)
chain, text = [@START@], ""
while not text.startswith("fails"):
    worker, after, text = jobs[chain[-1]]
    if onward := re.match(r"forwards to (\\w+) as ticket (t-\\d+)", text):
        chain.append(onward.groups())
answer = {
    "services": [service for service, _ in chain],
    "workers": [jobs[key][0] for key in chain],
    "waited_ms": sum(jobs[key][1] for key in chain),
    "code": re.search(r"K-\\d+", text)[0],
}
Path("trace.json").write_text(json.dumps(answer, indent=2) + "\\n", encoding="utf-8")
PYTHON
"""


def ref(name: str, at: int) -> str:
    """How a plan refers to what it learned at a hop."""
    return f"${{{name}{at}}}"


def lay_out(facts: dict) -> dict[str, str]:
    """Three log files for each service; in each file the job of `facts`, if it holds one, among others."""
    files, services = {}, facts["services"]

    def number(size: int, *place: object) -> int:
        return int(draw(facts["seed"], *place) * size)

    for name in [f"logs/{service}.log{ending}" for service in services for ending in ("", ".1", ".2")]:
        job, busy, lines = facts["jobs"].get(name), set(), []
        start, end, worker = (*job["lines"], job["worker"]) if job else (-1, -1, "")
        for at in range(100):
            who, kind, after = f"w{number(6, name, at, 0) + 1}", number(12, name, at, 1), number(90, name, at, 2) + 8
            other, row = services[number(len(services), name, at, 3)], 1000 + number(8990, name, at, 4)
            row += row % 7 == 0  # the tickets of `facts` are multiples of 7
            if at == start - 1:  # the worker of the job is free when it begins
                who, text = worker, f"finishes its ticket after {after} ms" if worker in busy else "is idle"
                busy.discard(worker)
            elif at in (start, end):
                who, text = worker, job["texts"][0 if at == start else 1]
            elif (start < at < end and who == worker) or (who in busy and kind < 4):
                text = f"reads {row} rows of table {other}_{kind}"
            elif who not in busy:
                text = f"takes ticket t-{row}"
                busy.add(who)
            else:
                ends = ("finishes its ticket", f"forwards to {other} as ticket t-{row}", f"fails with code K-{row}")
                text = f"{ends[(kind - 4) % 7 // 3]} after {after} ms"
                busy.discard(who)
            clock = 15000 - 6000 * (".12".index(name[-1]) if name[-2] == "." else 0) + at * 53 + after % 50
            lines.append(f"2033-06-11 {clock // 3600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d} {who} {text}\n")
        files[name] = "".join(lines)
    return files


def digest(files: dict[str, str]) -> str:
    """A digest over the names and texts of files, as the verifier makes it."""
    whole = "".join(f"{name} {hashlib.sha256(files[name].encode()).hexdigest()}\n" for name in sorted(files))
    return hashlib.sha256(whole.encode()).hexdigest()


def instance(draws: Draws) -> dict[str, str]:
    """A chain of jobs in files of all services."""
    hops = draws.integer(9, 11)
    services = draws.sample(NAMES.split(), hops + 2)
    chain, code = services[:hops], f"K-{draws.integer(1000, 9999)}"
    tickets = [f"t-{number}" for number in draws.sample(range(1001, 9999, 7), hops)]  # 1001 is 7 * 143
    workers = [f"w{draws.integer(1, 6)}" for _ in chain]
    waits = [draws.integer(8, 97) for _ in chain]
    jobs = {}
    for at, service in enumerate(chain):
        rotation, start = draws.integer(0, 2), draws.integer(36, 60)
        name = f"logs/{service}.log" + (f".{rotation}" if rotation else "")
        end = f"forwards to {chain[at + 1]} as ticket {tickets[at + 1]}" if at < hops - 1 else f"fails with code {code}"
        texts = [f"takes ticket {tickets[at]}", f"{end} after {waits[at]} ms"]
        jobs[name] = {"lines": [start, start + draws.integer(3, 8)], "worker": workers[at], "texts": texts}
    for ticket in tickets[1:]:  # the same number elsewhere, where it is another ticket
        name = f"logs/{draws.choice(services[hops:])}.log" + draws.choice(["", ".1", ".2"])
        end = f"forwards to {draws.choice(chain)} as ticket t-{draws.integer(1000, 7000)}"
        texts = [f"takes ticket {ticket}", f"{end} after {draws.integer(8, 97)} ms"]
        jobs.setdefault(name, {"lines": [44, 49], "worker": f"w{draws.integer(1, 6)}", "texts": texts})
    facts = {"seed": draws.integer(0, 10**9), "services": draws.shuffled(services), "jobs": jobs}
    answer = {"services": chain, "workers": workers, "waited_ms": sum(waits), "code": code}
    expected = {"answer": answer, "logs": digest(lay_out(facts))}
    return shared(__file__, *SHARED) | {
        "instruction.md": INSTRUCTION.format(first=chain[0], ticket=tickets[0]),
        "environment/setup.sh": setup_text(lay_out, facts),
        "tests/expected.json": expected_text(expected),
        "solution/solve.sh": SOLUTION.replace("@START@", repr((chain[0], tickets[0]))),
        "solution/plan.yaml": plan_text(
            f"The request ended in {ref('service', hops)} with the code ${{code}}; its way is in trace.json.",
            plan_steps(chain[0], tickets, workers),
        ),
    }


def plan_steps(first: str, tickets: list[str], workers: list[str]) -> list[dict]:
    """One step a hop, each showing the whole file; then the sum and the answer."""
    hops, steps = len(tickets), []
    for at in range(1, hops + 1):
        ticket, service = (ref("ticket", at), ref("service", at)) if at > 1 else (tickets[0], first)
        job = rf"takes ticket {tickets[at - 1]}\n(?:(?!.* {workers[at - 1]} f).*\n)*.* {workers[at - 1]} "
        file = f"$(grep -l 'takes ticket {ticket}$' logs/{service}.log*)"
        learn = {f"worker{at}": f" (w[1-6]) takes ticket {tickets[at - 1]}$", f"ms{at}": job + r"f.* after (\d+) ms"}
        if at < hops:
            learn[f"service{at + 1}"] = job + "forwards to ([a-z]+) as"
            learn[f"ticket{at + 1}"] = job + r"forwards to [a-z]+ as ticket (t-\d+) "
        else:
            learn["code"] = job + r"fails with code (K-\d+) "
        fields = f"/takes ticket {ticket}$/ {{w = $3}} w && $3 == w {{print}} w && $3 == w && $4 ~ /^f/ {{exit}}"
        steps.append(
            {
                "say": f"Hop {at} is in {service}, where the request is ticket {ticket}.",
                "run": f'cat "{file}"',
                "learn": learn,
                "otherwise": f"awk '{fields}' \"{file}\"",
                "goal": "early" if at <= 3 else "middle" if at < hops else "failure",
            }
        )
    numbers = range(1, hops + 1)
    total = f"echo total $(({' + '.join(ref('ms', at) for at in numbers)}))"
    steps.append({"say": "I add up the times.", "run": total, "learn": {"total": r"^total (\d+)$"}, "goal": "answer"})
    services = ", ".join(f'"{ref("service", at) if at > 1 else first}"' for at in numbers)
    names = ", ".join(f'"{ref("worker", at)}"' for at in numbers)
    pairs = (f'"services": [{services}]', f'"workers": [{names}]', '"waited_ms": ${total}', '"code": "${code}"')
    text = "{\n  " + ",\n  ".join(pairs) + "\n}\n"
    steps.append({"say": "I write the answer.", "create": {"path": "trace.json", "text": text}, "goal": "answer"})
    return steps
