"""Compares what the panel shows with the commissioning sheet: python3 compare_panel.py"""

import csv
import sys

from plant import registers

RAW = (500, 1240, 2030)


class Bus:
    """A bus on which every register holds the same word."""

    def __init__(self, word):
        self.held = word

    def word(self, address):
        return self.held


def main():
    """Three lines a device; the number of lines that do not agree comes last."""
    with open("commissioning.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    mismatches = 0
    for row in rows:
        read = getattr(registers, "read_" + row["device"].replace("-", "_"))
        for raw in RAW:
            panel = read(Bus(raw))
            sheet = round(min(raw * float(row["scale"]) + float(row["offset"]), float(row["ceiling"])), 1)
            agree = abs(panel - sheet) < 0.05
            mismatches += not agree
            remark = "agrees" + row["remark"] if agree else "MISMATCH"
            print(f"{row['device']:<9} register {row['register']} raw {raw:>5}   panel {panel:>8.1f}   sheet {sheet:>8.1f}   {remark}")
    print(f"{mismatches} mismatches")
    return 1 if mismatches else 0


if __name__ == "__main__":
    sys.exit(main())
