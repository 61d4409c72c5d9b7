"""Measures of volume in litres."""

IN_LITRES = {
    "gill": 0.1420653125,
    "pint": 0.56826125,
    "quart": 1.1365225,
    "gallon": 4.54609,
    "peck": 9.09218,  # TODO: more digits?
    "bushel": 36.36872,
    "firkin": 40.91418,
    "kilderkin": 81.82962,
    "barrel": 163.65924,
    "hogshead": 245.48886,
}
