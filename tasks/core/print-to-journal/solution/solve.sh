#!/bin/bash
set -euo pipefail
python3 -I - <<'PYTHON'
from pathlib import Path


def replace(name, *pairs):
    path = Path(name)
    text = path.read_text(encoding="utf-8")
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


replace(
    "ferry/decks.py",
    ("def take(self, vehicle):", "def take(self, vehicle, journal=NOWHERE):"),
    ('print(f"DEBUG: trim of {self.name} is now {self.trim:.1f}")', 'journal.debug("trim-changed", deck=self.name, trim=self.trim)'),
    ("from dataclasses import dataclass, field\n", "from dataclasses import dataclass, field\n\nfrom ferry.journal import NOWHERE\n"),
)
replace(
    "ferry/loading.py",
    ("from ferry.decks import Full\n", "from ferry.decks import Full\nfrom ferry.journal import NOWHERE\n"),
    ("def load(vehicles, decks):", "def load(vehicles, decks, *, journal=NOWHERE):"),
    ('print("INFO: loading", len(vehicles), "vehicles on", len(decks), "decks")', 'journal.info("loading-started", vehicles=len(vehicles), decks=len(decks))'),
    ("    for vehicle in sorted(vehicles, key=lambda vehicle: (-vehicle.weight, vehicle.plate)):\n",
     "    order = sorted(vehicles, key=lambda vehicle: (-vehicle.weight, vehicle.plate))\n    for turn, vehicle in enumerate(order, 1):\n        here = journal.within(turn=turn)\n"),
    ('print(f"ERROR: {vehicle.plate} refused ({error})")', 'here.error("vehicle-refused", plate=vehicle.plate, reason=str(error))'),
    ("            refused += 1\n", ""),
    ("    behind, refused = [], 0\n", "    behind = []\n"),
    ("if not placed(vehicle, decks):", "if not placed(vehicle, decks, here):"),
    ('print(f"WARNING: {len(behind)} vehicles stay behind")', 'journal.warning("vehicles-left", left=len(behind))'),
    ('print(f"INFO: finished, {len(vehicles) - len(behind)} placed")', 'journal.info("loading-finished", placed=len(vehicles) - len(behind), left=len(behind))'),
    ("def placed(vehicle, decks):", "def placed(vehicle, decks, journal):"),
    ('print(f"DEBUG: {vehicle.plate} of {vehicle.length} m and {vehicle.weight} t")',
     'journal.debug("vehicle-considered", plate=vehicle.plate, length=vehicle.length, weight=vehicle.weight)'),
    ("deck.take(vehicle)", "deck.take(vehicle, journal)"),
    ('print(f"DEBUG: {vehicle.plate} not on {deck.name}: {full}")', 'journal.debug("deck-refused", plate=vehicle.plate, deck=deck.name, reason=str(full))'),
    ('print(f"INFO: {vehicle.plate} is number {len(deck.plates)} on {deck.name}")',
     'journal.info("vehicle-placed", plate=vehicle.plate, deck=deck.name, position=len(deck.plates))'),
    ('print(f"WARNING: no deck for {vehicle.plate}")', 'journal.warning("vehicle-left", plate=vehicle.plate)'),
)
replace(
    "load_ferry.py",
    ("from ferry.decks import Deck, Vehicle\n", "from ferry.decks import Deck, Vehicle\nfrom ferry.journal import Journal\n"),
    ('    behind = load([Vehicle(**vehicle) for vehicle in cargo["vehicles"]], decks)\n',
     '    entries = []\n    vehicles = [Vehicle(**vehicle) for vehicle in cargo["vehicles"]]\n    behind = load(vehicles, decks, journal=Journal(entries.append))\n'
     '    if arguments[1:2] == ["--journal"]:\n        with open(arguments[2], "w", encoding="utf-8") as file:\n            file.writelines(json.dumps(entry) + "\\n" for entry in entries)\n'),
)
PYTHON
python3 -B load_ferry.py cargo.json
