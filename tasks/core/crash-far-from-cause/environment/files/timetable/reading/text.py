"""Files of fields separated by semicolons."""


def rows(path):
    """The fields of each line that is not empty."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield [part.strip() for part in line.split(";")]


def words(text):
    """The parts of a list inside a field."""
    return text.split()
