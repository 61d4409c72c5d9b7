"""What happens when a report is done."""

from weir import words


def announce(rows):
    """One line for the radio."""
    return message(f"{len(rows)} levels", closing())


def message(text, end):
    """A line for the radio."""
    return f"Radio: {text}{end}"


def closing():
    """How messages end."""
    return ". Over."


def mail(rows):
    """One line for the mail."""
    return message(count_rows(rows), "")


def count_rows(rows):
    """How many rows there are."""
    return f"{len(rows)} {words.plural(len(rows), 'row')}"
