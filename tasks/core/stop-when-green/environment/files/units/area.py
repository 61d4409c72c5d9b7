"""Measures of area in square metres."""

IN_SQUARE_METRES = {
    "perch": 25.29285264,
    "rood": 1011.7141056,
    "acre": 4046.8564224,
    "oxgang": 60702.846336,
    "virgate": 121405.692672,  # TODO: more digits?
    "hide": 485622.770688,
    "barony": 16187425.6896,
}
