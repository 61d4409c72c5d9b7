"""Forms in which rows are written."""

from weir import layout

EXPORTERS = {}


def exporter(name):
    """Registers a form under a name."""

    def register(function):
        EXPORTERS[name] = function
        return function

    return register


@exporter("csv")
def write_csv(rows):
    """Lines with commas."""
    return "\n".join(f"{day},{level}" for day, level in rows)


@exporter("text")
def write_text(rows):
    """Lines with blanks."""
    return "\n".join(layout.padded(day, 12) + str(level) for day, level in rows)


@exporter("xml")
def write_xml(rows):
    """Elements."""
    return "\n".join(layout.element("row", f"{day} {level}") for day, level in rows)


@exporter("table")
def write_grid(rows):
    """A table with lines."""
    return "\n".join(layout.ruled([day, str(level)]) for day, level in rows)


def write_table(rows):
    """A table without lines; replaced by the one with lines."""
    return "\n".join(layout.padded(day, 10) + layout.padded(str(level), 6) for day, level in rows)
