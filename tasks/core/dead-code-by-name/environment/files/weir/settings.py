"""Configurations of reports."""

NEEDED = ("source", "steps", "export", "template")


def read(path):
    """Keys and values of a file."""
    conf = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not is_comment(line):
            key, _, value = line.partition("=")
            conf[key.strip()] = value.strip()
    return conf


def is_comment(line):
    """Whether the line is a comment."""
    return line.lstrip().startswith("#")


def names(text):
    """The parts of a list."""
    return [part.strip() for part in text.split(",")]


def missing(conf):
    """What the configuration lacks."""
    return [key for key in NEEDED if key not in conf]


def as_flag(text):
    """Whether a text says yes."""
    return text.lower() in ("yes", "on")


def with_defaults(conf):
    """The configuration with defaults; see also `as_flag`."""
    return {"quiet": as_flag(conf.get("quiet", "no")), **conf}
