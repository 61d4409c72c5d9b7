"""Boxes as Docker containers; `provider` is what the rest of the package sees."""
