"""Tasks that were worked before, for protocols that show how it is done instead of saying so."""

EXAMPLES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Create a file named greeting.txt that contains the word hello.", ("echo hello > greeting.txt",)),
    ("Write the number 7 into the file days.txt.", ("echo 7 > days.txt",)),
    (
        "Make a folder named backup and put a copy of the file map.txt into it.",
        ("mkdir backup", "cp map.txt backup/map.txt"),
    ),
)
"""Each with its commands, none of which prints anything."""

SILENCE = "[no output]"
"""What is shown of a command that prints nothing."""

NEXT = "Next task: "
"""What stands before the task where worked ones come before it in a conversation."""
