"""Judges recovered.ini by the share of its sections that are wholly right; unknown ones give nothing."""

import configparser
import os
from pathlib import Path

from workspace import content, digest_of

GIVEN = {
    "binder.py": "f103a2d9a654258621d0c03940739867262ae0d0461bcd2ffad22d2b607bb53c",
    "binder.dat": "32ecd847df347fbaba1f58ec337a635612a5e6ee68cbeb65665fb16d4a13dd97",
}
EXPECTED = {
    "grid": {"nominal_volts": "11200", "zone": "marsh-2"},
    "pumps": {"lead": "P7", "max_starts": "6"},
    "alarms": {"horn": "42"},
    "radio": {"channel": "17", "call": "HERON"},
    "gates": {"order": "3,1,2", "hold": "50"},
    "relays": {"trip": "640", "retry": "5"},
    "ledger": {"keep_days": "400", "copy_to": "attic"},
    "meters": {"poll": "20", "spare": "M-55"},
    "backup": {"host": "lodge-3", "at": "03:40"},
    "lights": {"dusk": "7", "dawn": "4"},
    "seal": {"word": "lbtokylelm"},
}


def sections() -> dict[str, dict[str, str]]:
    """The sections of recovered.ini; none if it is no such file."""
    parser = configparser.ConfigParser(interpolation=None, default_section="")
    try:
        parser.read_string(content("recovered.ini").decode("utf-8-sig"))
    except (ValueError, configparser.Error) as error:
        print(f"recovered.ini: {str(error)[:200]!a}")
        return {}
    return {name: dict(parser[name]) for name in parser.sections()}


def score() -> float:
    """The reward in 0..1."""
    if any(digest_of(name) != wanted for name, wanted in GIVEN.items()):
        print("the binder was changed")
        return 0.0
    found = sections()
    right = [name for name, values in EXPECTED.items() if found.get(name) == values]
    strange = sorted(found.keys() - EXPECTED.keys())
    print(f"right: {right}; unknown: {strange[:9]!a}")
    return 0.0 if strange else len(right) / len(EXPECTED)


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")
