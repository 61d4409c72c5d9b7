"""The print shop of the station, which has nothing to do with the bus."""


class PrintShop:
    """Prints editions."""

    def __init__(self):
        self.editions = []

    def publish(self, edition, pages):
        """Print an edition; how many there are now."""
        self.editions.append((edition, pages))
        return len(self.editions)
