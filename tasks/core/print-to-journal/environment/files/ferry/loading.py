"""Who stands on which deck."""

from ferry.decks import Full


def load(vehicles, decks):
    """Put the vehicles on the decks, heavy ones first; the plates of those that stay behind."""
    print("INFO: loading", len(vehicles), "vehicles on", len(decks), "decks")
    behind, refused = [], 0
    for vehicle in sorted(vehicles, key=lambda vehicle: (-vehicle.weight, vehicle.plate)):
        try:
            vehicle.check()
        except ValueError as error:
            print(f"ERROR: {vehicle.plate} refused ({error})")
            refused += 1
            behind.append(vehicle.plate)
            continue
        if not placed(vehicle, decks):
            behind.append(vehicle.plate)
    if behind:
        print(f"WARNING: {len(behind)} vehicles stay behind")
    print(f"INFO: finished, {len(vehicles) - len(behind)} placed")
    return behind


def placed(vehicle, decks):
    """Whether one of the decks took it."""
    print(f"DEBUG: {vehicle.plate} of {vehicle.length} m and {vehicle.weight} t")
    for deck in decks:
        try:
            deck.take(vehicle)
        except Full as full:
            print(f"DEBUG: {vehicle.plate} not on {deck.name}: {full}")
            continue
        print(f"INFO: {vehicle.plate} is number {len(deck.plates)} on {deck.name}")
        return True
    print(f"WARNING: no deck for {vehicle.plate}")
    return False
