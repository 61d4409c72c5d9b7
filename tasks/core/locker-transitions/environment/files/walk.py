"""Shows for every row of docs/TRANSITIONS.md what the machine does: python3 walk.py"""

import sys

from locker.machine import Locker, Refused


def main():
    """One line a row, then how many live rows are refused."""
    refused = 0
    with open("docs/TRANSITIONS.md", encoding="utf-8") as file:
        rows = [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in file if line[2:5].isdigit()]
    for number, state, event, status, following, actions, timer in rows:
        locker = Locker(state)
        try:
            locker.handle(event)
            does = f"-> {locker.state} do {', '.join(locker.done)} timer {locker.timer}"
        except Refused:
            does = "refuses"
            refused += status == "live"
        table = f"{status:<9} -> {following:<9} do {actions:<26} timer {timer:<7}"
        print(f"row {number}  {state:<9} x {event:<12}  table: {table}  machine: {does}")
    print(f"{refused} live rows refused")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
