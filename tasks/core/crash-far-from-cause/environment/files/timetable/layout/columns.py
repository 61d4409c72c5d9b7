"""Which stop stands in which column."""


def columns(line, stops):
    """The column of each open stop of the line, from 0."""
    shown = [code for code in line.stops if not stops[code].closed]
    return {code: at for at, code in enumerate(shown)}
