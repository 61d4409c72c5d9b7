"""What is printed for the customer and for the desk."""

from rental import fees


def money(cents):
    """Cents as euros."""
    return f"{cents // 100}.{cents % 100:02d} EUR"


def boat_receipt(name, days, late=0):
    """The receipt for a boat."""
    rows = [f"Boat {name}: {days} days"]
    rows.append(f"total {money(fees.boat_fee(days, late))}")
    return "\n".join(rows)


def van_receipt(name, days, late=0):
    """The receipt for a van."""
    rows = [f"Van {name}: {days} days"]
    rows.append(f"total {money(fees.van_fee(days, late))}")
    return "\n".join(rows)


def desk_note(name):
    """What the desk has to do."""
    return f"Look at {name} before the deposit is given back."
