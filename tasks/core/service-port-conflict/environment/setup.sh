#!/usr/bin/env bash
# Generates blocks.json and the services; the seed makes them the same everywhere.
set -eu
mkdir -p services
python3 - <<'PYTHON'
import json
import random

draw = random.Random(8247).random
NAMES = (
    "alpaca badger beaver bison camel civet condor coyote dingo dugong egret eland falcon ferret gannet gecko gibbon "
    "heron hyena ibex iguana jackal jaguar kestrel kiwi koala lemur lynx macaw marten moose narwhal ocelot okapi osprey "
    "otter panther puffin quetzal quoll raven sable serval stoat tapir toucan vole wombat"
).split()
BLOCKS = {"alpha": (8000, 8099), "beta": (8100, 8199), "gamma": (8200, 8299), "delta": (8300, 8399)}
reserved = {8000, 8003, 8050, 8100, 8101, 8105, 8150, 8200, 8204, 8250, 8300, 8301, 8350}
pools = {}
for team, (first, last) in BLOCKS.items():
    low = [port for port in range(first, first + 12) if port not in reserved and port not in (first + 9,)]
    rest = [port for port in range(first + 12, last - 12) if port not in reserved and port % 40 != 7 and port % 4]
    pools[team] = sorted(low, key=lambda _: draw()) + sorted(rest, key=lambda _: draw())
    pools[team].reverse()

services = []
for number, name in enumerate(sorted(NAMES, key=lambda _: draw())):
    team = list(BLOCKS)[number % 4]
    since = f"{2015 + int(draw() * 7)}-{1 + int(draw() * 12):02d}-{1 + int(draw() * 28):02d}"
    services.append({"name": name, "team": team, "since": since, "http": pools[team].pop(), "metrics": pools[team].pop()})
for service in services:
    if service["name"] == "quoll":
        service |= {"team": "gamma", "since": "2019-06-04", "http": 8288, "metrics": pools["gamma"].pop(), "workers": "8289-8296"}
    if service["name"] == "tapir":
        service |= {"team": "beta", "since": "2023-02-20", "http": pools["beta"].pop(), "metrics": 8294}
for team, (first, last) in BLOCKS.items():
    if team != "gamma":
        next(s for s in services if s["team"] == team and s["name"] != "tapir")["workers"] = f"{last - 10}-{last - 3}"

for service in sorted(services, key=lambda service: service["name"]):
    lines = [f"{key} = {value}" for key, value in service.items()]
    lines += ["address = 127.0.0.1", f"restart_after_s = {5 * (1 + int(draw() * 12))}", f"log = /var/log/{service['name']}.log"]
    with open(f"services/{service['name']}.conf", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
with open("blocks.json", "w", encoding="utf-8") as file:
    json.dump({"blocks": BLOCKS, "reserved": sorted(reserved)}, file, indent=1)
    file.write("\n")
PYTHON
