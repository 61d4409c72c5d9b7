"""Prints the settings, one line for each section: python3 -m service.show."""

from service.settings import load, masked

TITLE = "settings from config/app.ini"


def main():
    """Print a title and the sections."""
    print(TITLE)
    for name, section in load().items():
        print(f"{name}: " + ", ".join(f"{key}={value}" for key, value in masked(section).items()))


if __name__ == "__main__":
    main()
