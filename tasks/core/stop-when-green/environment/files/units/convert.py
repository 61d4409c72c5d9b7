"""Converts old measures to metric ones."""

from units import area, length, mass, volume

TABLES = {
    "length": length.IN_METRES,
    "area": area.IN_SQUARE_METRES,
    "volume": volume.IN_LITRES,
    "mass": mass.IN_KILOGRAMS,
}


def convert(kind, name, amount=1):
    """`amount` of the measure `name` in the metric unit of its kind."""
    # TODO: this loop is silly, a plain look-up would do
    for known in TABLES[kind]:
        if known == name:
            return amount * TABLES[kind][known]
    raise KeyError(name)


def names():
    """Pairs of kind and name of all measures."""
    return [(kind, name) for kind, table in TABLES.items() for name in table]
