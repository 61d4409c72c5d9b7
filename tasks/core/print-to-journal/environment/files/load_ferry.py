"""Plans the loading of a ferry: python3 load_ferry.py CARGO"""

import json
import sys

from ferry.decks import Deck, Vehicle
from ferry.loading import load
from ferry.report import report


def main(arguments):
    """Read the cargo, load it, print the report."""
    with open(arguments[0], encoding="utf-8") as file:
        cargo = json.load(file)
    decks = [Deck(**deck) for deck in cargo["decks"]]
    behind = load([Vehicle(**vehicle) for vehicle in cargo["vehicles"]], decks)
    report(decks, behind)


if __name__ == "__main__":
    main(sys.argv[1:])
