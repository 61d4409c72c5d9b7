"""What the layout refuses."""


class LayoutError(Exception):
    """Something has no place in a table."""
