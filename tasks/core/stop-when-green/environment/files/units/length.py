"""Measures of length in metres."""

IN_METRES = {
    "inch": 0.0254,
    "hand": 0.1016,
    "foot": 0.3048,
    "yard": 0.9144,
    "fathom": 1.8288,  # TODO: more digits?
    "rod": 5.0292,
    "chain": 20.1168,
    "furlong": 201.168,
    "mile": 1609.344,
    "league": 4828.032,
}
