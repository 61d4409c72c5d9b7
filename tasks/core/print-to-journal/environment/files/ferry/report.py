"""What the crew gets on paper."""


def report(decks, behind):
    """Print a line for each deck, and a warning."""
    for deck in decks:
        print(f"{deck.name}: {' '.join(deck.plates) or 'empty'} ({deck.used:g} of {deck.length:g} m, trim {deck.trim:+.1f})")
    if behind:
        print(f"WARNING: {len(behind)} stay behind: {' '.join(behind)}")
    print("DEBUG: none" if not behind and not any(deck.plates for deck in decks) else "INFO: cast off")
