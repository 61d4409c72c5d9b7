"""Prints the timetable: python3 print_timetable.py FOLDER"""

import sys
from pathlib import Path

from timetable.layout.page import page
from timetable.reading.lines import read_lines
from timetable.reading.stops import read_stops
from timetable.reading.trips import read_trips
from timetable.reading.variants import add_variants
from timetable.rules.midnight import past_midnight
from timetable.rules.order import in_order
from timetable.rules.shorten import short_turns


def main(folder):
    """Read, apply the rules, print."""
    stops = read_stops(folder / "stops.txt")
    lines = read_lines(folder / "lines.txt")
    add_variants(lines, folder / "variants.txt")
    trips = read_trips(folder / "trips.txt", lines)
    for rule in (past_midnight, short_turns, in_order):
        trips = rule(trips)
    print(page(lines, stops, trips), end="")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
