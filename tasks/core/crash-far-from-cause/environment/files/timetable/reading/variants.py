"""The file variants.txt."""

from timetable.reading.text import rows, words


def add_variants(lines, path):
    """Put all variants behind the lines."""
    for code, name, base, skipped in rows(path):
        variant = lines[base].variant(code, name)
        for stop in words(skipped):
            if variant.serves(stop):
                variant.stops.remove(stop)
        lines[code] = variant
