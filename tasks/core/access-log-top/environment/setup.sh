#!/bin/bash
# Writes logs/access.log: always the same bytes, a little below 55 kB.
set -euo pipefail
mkdir -p logs
python3 -I - <<'PYTHON'
import random

rng = random.Random(6180)


def below(limit):
    return int(rng.random() * limit)


PATHS = ["/shop/list", "/shop/item", "/cart", "/login", "/search", "/help", "/static/app.js", "/api/stock", "/api/price", "/"]
WEIGHTS = [17, 15, 12, 6, 14, 3, 11, 13, 12, 8]
DRAW = [path for path, weight in zip(PATHS, WEIGHTS) for _ in range(weight)]
CLIENTS = [f"10.2.{group}.{number}" for group in range(3) for number in (7, 12, 40, 71)]
MONITOR = "10.9.4.18"
lines, second = [], 14 * 3600
for number in range(720):
    second += below(5)
    client = MONITOR if rng.random() < 0.16 else CLIENTS[below(len(CLIENTS))]
    path = "/help" if client == MONITOR else DRAW[below(len(DRAW))]
    query = f"?q={below(900)}" if rng.random() < 0.35 else ""
    method = "HEAD" if rng.random() < 0.07 else "POST" if path == "/cart" and rng.random() < 0.5 else "GET"
    status = 200 if rng.random() < 0.82 else [204, 301, 404, 500, 502, 503][below(6)]
    status = 503 if client == MONITOR and rng.random() < 0.3 else status
    size = 0 if method == "HEAD" or status == 204 else 180 + below(9000)
    took = 3 + below(400) + (900 if client == MONITOR and rng.random() < 0.05 else 0)
    when = f"2031-03-09T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    lines.append(f'{client} [{when}] "{method} {path}{query} HTTP/1.1" {status} {size} {took}ms')
    if number == 90:
        lines.append("# log rotated, nothing lost")
    if number == 330:
        lines.append(f"# monitoring agent is {MONITOR} from today on")
    if number == 600:
        lines.append("# certificate renewed")
open("logs/access.log", "w", encoding="utf-8").write("\n".join(lines) + "\n")
PYTHON
