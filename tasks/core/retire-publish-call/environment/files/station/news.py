"""Short news on the notice board."""

BOARD = []


def publish(title, text):
    """Put a note on the board; the note."""
    BOARD.append(f"{title}: {text}")
    return BOARD[-1]
