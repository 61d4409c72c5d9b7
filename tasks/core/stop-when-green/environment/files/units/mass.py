"""Measures of mass in kilograms."""

IN_KILOGRAMS = {
    "grain": 0.00006479891,
    "dram": 0.0017718451953125,
    "ounce": 0.028349523125,
    "pound": 0.45359237,
    "stone": 6.35029318,  # TODO: more digits?
    "quarter": 12.70058636,
    "hundredweight": 50.80234544,
    "ton": 1016.0469088,
}
