"""Loops."""


def each(pairs, act):
    """Call `act` with both parts of every pair."""
    for first, second in pairs:
        act(first, second)
