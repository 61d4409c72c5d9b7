#!/bin/bash
# Writes logs/orders.log: always the same bytes, about 45 kB, the root cause a little before the middle.
set -euo pipefail
mkdir -p logs
python3 -I - <<'PYTHON'
import random

rng = random.Random(4107)


def pick(values):
    return values[int(rng.random() * len(values))]


HOSTS = ["web-01", "web-02", "web-03", "pay-01", "pay-02", "stock-01", "stock-02", "queue-01"]
CALM = [
    ("DEBUG", "http", "request finished status=200 bytes={n}"),
    ("INFO", "cart", "cart priced items={k} total={n}"),
    ("INFO", "stock", "reservation kept for order={n}"),
    ("INFO", "queue", "batch acknowledged size={k} offset={n}"),
    ("DEBUG", "cache", "entry refreshed key=product-{n} ttl=300"),
]
NOISY = [
    ("WARN", "http", "slow upstream answered after {n} ms, recovered"),
    ("WARN", "db-pool", "pool limit lowered to 40 by deploy dep-{d}, within bounds"),
    ("ERROR", "payment", "card network refused order={n}, retried with success"),
    ("ERROR", "db-pool", "connection reset by peer, replaced"),
    ("ERROR", "queue", "consumer lag {n} above threshold, caught up"),
]
# position in the log (line), level, host, component, message, caused_by; ids are given below
CHAIN = {
    176: ("E5280", "WARN", "stock-02", "db-pool", "pool limit lowered to 0 by deploy dep-7731, setting applied", None),
    195: ("E6113", "ERROR", "stock-01", "stock", "no connection for reservation, order parked", "E5280"),
    262: ("E3947", "ERROR", "queue-01", "queue", "parked orders exceed the limit of 500", "E6113"),
    344: ("E8402", "ERROR", "pay-01", "payment", "settlement stalled, queue refuses messages", "E3947"),
    397: ("E7019", "FATAL", "web-02", "supervisor", "order service is down", "E8402"),
}
taken = {entry[0] for entry in CHAIN.values()}
lines, clock, side = [], 2 * 3600 * 1000, None
for number in range(404):
    clock += 200 + int(rng.random() * 9000)
    when = f"2031-04-12T{clock // 3600000:02d}:{clock // 60000 % 60:02d}:{clock // 1000 % 60:02d}.{clock % 1000:03d}Z"
    if number in CHAIN:
        event, level, host, component, message, cause = CHAIN[number]
    else:
        event = f"E{1000 + int(rng.random() * 9000)}"
        while event in taken:
            event = f"E{1000 + int(rng.random() * 9000)}"
        taken.add(event)
        level, component, message = pick(NOISY if rng.random() < 0.17 else CALM)
        host, cause = pick(HOSTS), side if level == "ERROR" and rng.random() < 0.5 else None
        message = message.format(n=1000 + int(rng.random() * 9000), k=1 + int(rng.random() * 9), d=1100 + int(rng.random() * 800))
        side = event if level in ("WARN", "ERROR") else side
    ending = f" caused_by={cause}" if cause else ""
    lines.append(f"{when} {level:<5} event={event} host={host} component={component} msg={message}{ending}\n")
open("logs/orders.log", "w", encoding="utf-8").write("".join(lines))
PYTHON
