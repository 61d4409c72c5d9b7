"""What happened in a turn, whose it was, and what it does to the score."""
