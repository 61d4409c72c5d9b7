#!/bin/bash
# Writes logbook/: always the same bytes, ten days of about five thousand characters, what matters in the middle of each.
set -euo pipefail
mkdir -p logbook
python3 -I - <<'PYTHON'
import hashlib
import textwrap


def draw(limit, *parts):
    """A number below the limit that depends on the parts alone."""
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:6], "big") % limit


MATTERS = {
    1: "Took over from Captain Moe this morning. The book of the old year ends with the meter at 7310 and 18400 litres in the tank,"
    " sounded by both of us. Tonight it shows 8642.",
    2: "Counter below stands at 9871 after the last run; at noon it was somewhere near 9200, but the lamp was out.",
    3: "I must put something right: the figure of last night was not 9871. Olsen turned two digits round, the stoker's slate says"
    " 9817 and so do I. By tonight the dial had gone through its noughts and reads 0964. After that we lay at Skarvik and took"
    " 6000 litres from the shore, which do not pass the dial.",
    4: "Dial 2203. We lent the island's generator a hose for an hour: about 180 litres out of our tank, and it ran through our dial"
    " like the rest.",
    5: "The clock by the engine says 3398. No bunkers, nothing lent, nothing spilled.",
    6: "At noon the yard's man took out the old clock, which had come to 3991, and screwed in an English one. It began at 0040 and"
    " counts gallons, which on this coast have always been of four and a half litres. It says 0182 now.",
    7: "English clock: 0446. The cook asked what a gallon is and was told to look it up on yesterday's page.",
    8: "The glass is at 0674. On two runs its needle hung; Olsen measured in the day tank that 96 litres went by uncounted. I"
    " believe him, so they come on top.",
    9: "The glass came to 0940. A barge came alongside at Tjome and gave us 900 gallons of the same kind, not through the glass.",
    10: "Last evening of the book: 1212 on the glass. Two letters came. The barge's paper says 880 gallons and not 900; we signed"
    " it without spectacles, so 880 it is. And the island writes that its own gauge showed 160 litres for the hour on our hose;"
    " let that stand instead of the 180.",
}
WEATHER = "Wind {n} from the west, sea {k}.|Fog until {h} o'clock, horn going.|Rain, then clear; glass on the bridge at {p}.|Ice in the sound, went slow.|Calm. Counted {n} seals on the skerry.".split("|")
RUN = [
    "Run {r} to {place} with {n} passengers, {k} cars and a hearse.",
    "Run {r} to {place}: {n} passengers, {k} of them without tickets.",
    "Run {r}, {place} and back, {n} passengers; late by {k} minutes for a bus.",
    "Run {r} to {place}. {n} passengers, two cows, {k} bicycles.",
]
ASIDE = [
    "The water meter showed {p4} when the hose was taken off.",
    "The Signe passed; her mate called over that her fuel counter was at {p4} and that she had taken {n} hundred litres at Moss.",
    "Hours on the main engine {p4}, on the small one {n}.",
    "The dial of the winch says {p4} turns, which nobody believes.",
    "Sold {n} tickets on board, the counter at the turnstile reads {p4}.",
    "Oil for the bearings: {k} litres from the can, as every day.",
    "The owners ask what fuel costs now: {n} a hundred litres at Skarvik, {m} at Tjome.",
    "The clock in the saloon was {k} minutes slow and was put right.",
    "The glass of the wheelhouse door is cracked; a new one costs {p4}.",
    "Painted the rail for {k} hours. The boy spilled {n} drops on the deck and counted them.",
]
PLACES = "Skarvik|Tjome|Moss|the island|Outer Holm|the mill pier".split("|")
for day, matter in MATTERS.items():
    paragraphs = []
    for run in range(1, 16):
        where = (day, run)
        words = {name: 3 + draw(limit, name, *where) for name, limit in (("n", 90), ("k", 9), ("h", 8), ("m", 90))}
        words |= {"r": run, "place": PLACES[draw(6, "place", *where)], "p": 985 + draw(40, "p", *where), "p4": f"{1000 + draw(8999, 'p4', *where)}"}
        aside = sorted(ASIDE, key=lambda text: draw(10**9, text, *where))[:3]
        text = " ".join([RUN[draw(4, "run", *where)], WEATHER[draw(5, "weather", *where)], *aside]).format(**words)
        text += f" {matter}" if run == 6 + day % 3 else ""
        paragraphs.append(textwrap.fill(text, 100))
    with open(f"logbook/day-{day:02d}.txt", "w", encoding="utf-8") as file:
        file.write(f"Ferry Ragna, day {day}\n\n" + "\n\n".join(paragraphs) + "\n")
PYTHON
