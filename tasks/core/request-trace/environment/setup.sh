#!/bin/bash
# Lays out this instance: always the same bytes.
set -euo pipefail
python3 -I - <<'PYTHON'
import hashlib
from pathlib import Path


def draw(*parts: object) -> float:
    """A number in 0..1 that depends on the parts alone."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


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


FACTS = {
    'seed': 818662294,
    'services': ['refund', 'currency', 'invoice', 'depot', 'pricing', 'insurance', 'archive', 'billing', 'credit', 'basket', 'ledger', 'routing', 'address'],
    'jobs': {'logs/ledger.log': {'lines': [45, 53], 'worker': 'w1', 'texts': ['takes ticket t-2457', 'forwards to currency as ticket t-4312 after 89 ms']}, 'logs/currency.log': {'lines': [56, 64], 'worker': 'w6', 'texts': ['takes ticket t-4312', 'forwards to address as ticket t-2359 after 84 ms']}, 'logs/address.log.2': {'lines': [57, 65], 'worker': 'w3', 'texts': ['takes ticket t-2359', 'forwards to billing as ticket t-8778 after 37 ms']}, 'logs/billing.log.1': {'lines': [44, 49], 'worker': 'w1', 'texts': ['takes ticket t-8778', 'forwards to insurance as ticket t-5810 after 19 ms']}, 'logs/insurance.log.1': {'lines': [60, 68], 'worker': 'w3', 'texts': ['takes ticket t-5810', 'forwards to archive as ticket t-4431 after 42 ms']}, 'logs/archive.log': {'lines': [53, 56], 'worker': 'w1', 'texts': ['takes ticket t-4431', 'forwards to depot as ticket t-8253 after 95 ms']}, 'logs/depot.log': {'lines': [40, 43], 'worker': 'w3', 'texts': ['takes ticket t-8253', 'forwards to basket as ticket t-1043 after 19 ms']}, 'logs/basket.log': {'lines': [56, 61], 'worker': 'w6', 'texts': ['takes ticket t-1043', 'forwards to credit as ticket t-4760 after 53 ms']}, 'logs/credit.log.1': {'lines': [46, 51], 'worker': 'w4', 'texts': ['takes ticket t-4760', 'forwards to invoice as ticket t-2737 after 40 ms']}, 'logs/invoice.log.2': {'lines': [49, 52], 'worker': 'w4', 'texts': ['takes ticket t-2737', 'forwards to routing as ticket t-3640 after 19 ms']}, 'logs/routing.log.1': {'lines': [51, 57], 'worker': 'w1', 'texts': ['takes ticket t-3640', 'fails with code K-4778 after 75 ms']}, 'logs/refund.log.2': {'lines': [44, 49], 'worker': 'w4', 'texts': ['takes ticket t-4312', 'forwards to invoice as ticket t-5440 after 89 ms']}, 'logs/refund.log': {'lines': [44, 49], 'worker': 'w2', 'texts': ['takes ticket t-2359', 'forwards to currency as ticket t-5566 after 71 ms']}, 'logs/pricing.log': {'lines': [44, 49], 'worker': 'w6', 'texts': ['takes ticket t-5810', 'forwards to depot as ticket t-4455 after 67 ms']}, 'logs/refund.log.1': {'lines': [44, 49], 'worker': 'w1', 'texts': ['takes ticket t-8253', 'forwards to depot as ticket t-1317 after 45 ms']}, 'logs/pricing.log.2': {'lines': [44, 49], 'worker': 'w3', 'texts': ['takes ticket t-3640', 'forwards to basket as ticket t-1256 after 45 ms']}},
}
for name, text in lay_out(FACTS).items():
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(text.encode())
PYTHON
