"""Words of the radio protocol. The verb publish is part of it and stays."""

VERBS = {"connect": 1, "publish": 3, "subscribe": 8}


def report(value):
    """The verb for a value."""
    return VERBS["publish"] if value > 0 else VERBS["connect"]
