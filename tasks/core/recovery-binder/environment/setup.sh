#!/bin/bash
# Writes binder.dat: always the same bytes, ten sheets of about five thousand characters.
set -euo pipefail
python3 -I - <<'PYTHON'
import base64
import hashlib
import itertools
import json
import textwrap


def draw(limit, *parts):
    """A number below the limit that depends on the parts alone."""
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:6], "big") % limit


SHEETS = {  # phrase, then what the sheet prescribes, then what it says elsewhere; in the order of the sheet
    1: ("lamplighter", "Set grid.nominal_volts = 11200 and grid.zone = north-9.",
        "The keeper of the dam has a dog by the name of Bramble and a goat by the name of Senator.",
        "The second sheet opens with the name of the keeper's dog."),
    2: ("bramble", "Set pumps.lead = P4 and pumps.max_starts = 6.",
        "The valves of P3 are painted red and it stands by pole 71; those of P4 are teal, its pole is 86.",
        "The third sheet opens with the colour of the lead pump's valves and then the number of its pole."),
    3: ("teal-86", "Set alarms.horn = 42 and alarms.silence = 90.",
        "The old transformer burnt in October; Ingrid Sandvik put the fire out while Aage Holm held the hose."
        " Somebody has talked since: from the sixth sheet on, every phrase is typed backwards, letter by letter and sign by sign.",
        "The fourth sheet opens with the month in which the transformer burnt and the surname of the one who put the fire out."),
    4: ("october-sandvik", "Set radio.channel = 17 and radio.call = HERON.",
        "The relief station has a call of its own and answers to KESTREL, the boat answers to DIPPER."
        " P4 was scrapped in spring, so pumps.lead = P7 holds from now on.",
        "The fifth sheet opens with the call of the relief station."),
    5: ("kestrel", "Set gates.order = 3,1,2 and gates.hold = 45.",
        "One spare key hangs in the bakery of Mill Street, the other one in the chapel of Tannery Row, which is the one that fits.",
        "The sixth sheet opens with the first word of the street in which the key hangs that fits."),
    6: ("tannery", "Set relays.trip = 640 and relays.retry = 5.",
        "The zone north-9 was given up: grid.zone = marsh-2 is right."
        " The cellar has 31 steps, and a barrel stands at their foot; the attic has 24 and a loom.",
        "The seventh sheet opens with the number of the cellar's steps and what stands at their foot."),
    7: ("31-barrel", "Set ledger.keep_days = 400 and ledger.copy_to = attic.",
        "The clerk's aunt, Dame Ottilie, keeps the second copy, his uncle Sir Magnus the third."
        " The setting alarms.silence is withdrawn; nobody may silence the horn.",
        "The eighth sheet opens with the name of the clerk's aunt, without her title."),
    8: ("ottilie", "Set meters.poll = 20 and meters.spare = M-55.",
        "The neighbours at Otter Weir have set meters.poll = 35, which is their affair.",
        "The ninth sheet opens with two words of earlier sheets: the name of the dog on the first one, then the colour that opened"
        " the third."),
    9: ("bramble-teal", "Set backup.host = lodge-3 and backup.at = 03:40.",
        "The gates are heavier than they were, so gates.hold = 50 now. The company was founded at Varnholm and moved to Eelbridge.",
        "The tenth sheet opens with the town in which the company was founded."),
    10: ("varnholm", "Set lights.dusk = 7 and lights.dawn = 4.",
         "The neighbours at Otter Weir keep seal.word = OTTER.",
         "One setting more: seal.word is made of the first signs of all ten phrases, in the order of the sheets and as they were"
         " typed, without anything between them."),
}
STEPS = [
    "If feeder F{n} trips, wait {k} minutes and look at cabinet K{m} before anything else.",
    "A lamp that blinks {k} times means that the door of cabinet K{m} is open.",
    "Feeder F{n} was laid in 19{m} and hums at a load of more than {k} tenths.",
    "Of the {n} fuses on the shelf, {k} are for the lodge and may not be lent.",
    "Who works at F{n} alone calls the lodge every {k} minutes by telephone {m}.",
    "Oil of sort {k} goes into the switch of K{m}, and never the one of F{n}.",
    "When the river stands above mark {m}, feeders F{n} to F{m} are taken off one by one.",
    "The ladder at pole {n} lacks {k} rungs; take the one from pole {m}.",
    "Inspector {who} asked in his report {m} that this page be kept dry.",
    "After a storm, {who} walks from pole {n} to pole {m} and counts what is broken.",
]
WHO = "Lund|Moberg|Ekdal|Brandt|Solness|Tesman".split("|")


def stream(number, phrase):
    for block in itertools.count():
        yield from hashlib.sha256(f"{number}|{phrase}|{block}".encode()).digest()


binder = {}
for number, (phrase, setting, told, riddle) in SHEETS.items():
    paragraphs = []
    for at in range(14):
        where = (number, at)
        said = sorted(STEPS, key=lambda text: draw(10**9, text, *where))[:4]
        words = {"n": 10 + draw(80, "n", *where), "m": 12 + draw(80, "m", *where), "k": 2 + draw(8, "k", *where)}
        said = [text.format(who=WHO[draw(6, "who", *where)], **words) for text in said]
        said[2:2] = {3 + number % 3: [told], 6 + number % 2: [setting], 9: [riddle]}.get(at, [])
        paragraphs.append(textwrap.fill(f"{at + 1}. " + " ".join(said), 100))
    text = f"Sheet {number} of 10\n\n" + "\n\n".join(paragraphs)
    typed = phrase[::-1] if number >= 6 else phrase
    data = bytes(byte ^ key for byte, key in zip(text.encode(), stream(str(number), typed)))
    binder[str(number)] = base64.b64encode(data).decode()
with open("binder.dat", "w", encoding="utf-8") as file:
    json.dump(binder, file, indent=1)
PYTHON
