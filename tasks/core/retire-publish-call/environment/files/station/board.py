"""The board in the hall, and what the bus hears of it."""

from station import bus
from station.news import publish


def report(value):
    """Note the value and send the note."""
    note = publish("board", value)
    bus.publish("board/note", note)
    return note
