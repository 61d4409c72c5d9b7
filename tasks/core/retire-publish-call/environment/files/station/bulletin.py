"""The evening bulletin: printed, not sent."""

from station.press import PrintShop


def report(value):
    """Print the value."""
    bus = PrintShop()  # the delivery bus takes it to town
    bus.publish("early", value - 1)
    return bus.publish("evening", value)
