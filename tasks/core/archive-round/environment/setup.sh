#!/bin/bash
# Writes desk/store.json: eleven protocols of one round and some of others, sealed so that only the desk can open them.
set -euo pipefail
mkdir -p desk
python3 -I - <<'PYTHON'
import base64
import hashlib
import json
import zlib
from pathlib import Path


def digest(*words):
    return hashlib.sha256(" ".join(words).encode()).digest()


def number(*words):
    return int.from_bytes(digest(*map(str, words))[:6], "big")


def pick(values, *words):
    return values[number(*words) % len(values)]


ROUND = [
    ("larch-118", "Mill Lane", "The counter beside the door shows 48 213 kWh, and since it was set to zero a year ago, that is the use.",
     "From here I walked on to the harbour, of which the page alder-640 tells."),
    ("alder-640", "Harbour Gate", "The dial stands at 1107; it is one of the old dials, which count forty kWh as one.",
     "My next sheet was filed as hazel-093, after some confusion."),
    ("hazel-093", "Quarry Road", "Use of the year according to the display: 2.906 MWh, without any further digits.",
     "Who wants to follow me takes rowan-557 now."),
    ("rowan-557", "Old Dairy", "The meter was exchanged in May: the old one ended at 9 412 kWh, the new one has counted 377 kWh since. Both count.",
     "The continuation of this protocol is not willow-204 as announced but aspen-871."),
    ("aspen-871", "Signal Box", "Two counters hang here, A with 29 871 kWh and B with 30 118 kWh; only B is valid, A belongs to the railway.",
     "After a night's rest the round went on, see maple-316."),
    ("maple-316", "Fish Hall", "I wrote 7 734 kWh at first, but read it again by daylight and it is 7 743 kWh.",
     "Next in order: the sheet of the glassworks, linden-402."),
    ("linden-402", "Glassworks", "Only the east wing is metered, with 5 020 kWh; the west wing uses the same by contract and has to be added.",
     "The page after this one has the name of a thorn bush, sloe-729."),
    ("sloe-729", "North Pier", "Plain to read: 15 606 kWh.  A word on an earlier site, Harbour Gate: the dial there was exchanged in spring for a "
     "modern one that counts single kWh, so what I read is to be taken as it stands.",
     "I was then sent to the tollhouse, page yew-055."),
    ("yew-055", "Tollhouse", "Three equal counters with 1 250 kWh each.  At the Signal Box I mixed the letters up, says the railway: their "
     "counter is B, ours is A.",
     "With wet boots on to juniper-938."),
    ("juniper-938", "Sluice", "The site was without current all year and its counter is sealed; its use is nought.",
     "The last one of this round lies under spruce-261."),
    ("spruce-261", "Watch Tower", "The use is 8 088 kWh here.  Reading all again at home I see that at Mill Lane I swapped the last two digits when I wrote "
     "the number down.",
     "Here the round ends."),
]
OTHERS = ["willow-204", "pine-333", "elder-712", "beech-480", "cherry-167", "plane-925"]
PLACES = "bakery,boathouse,cattle yard,chapel,kiln,lime pit,orchard,paper mill,ropewalk,saw mill,tannery,weir".split(",")
PEOPLE = "the caretaker,a boy with a dog,the widow of the miller,two masons,the night guard,a clerk in slippers".split(",")
WEATHER = "fog,drizzle,a warm wind,hail,bright sun,the first frost".split(",")
SENTENCES = [
    "At the {place} {person} told me that {n} kWh had been read there in {year}, which concerns nobody any more.",
    "I waited for {person} until the {hour}th hour in {weather} and used the time to oil the lock of the {place}.",
    "The key of the {place} turned only at the {k}th attempt; {person} promised to see to it before the year is out.",
    "In {year} the protocol of this place was the page {page}, as a slip of paper inside the box still says.",
    "A seal with the number {n} lay on the floor of the {place}; I put it back where {person} said it belonged.",
    "The neighbours of the {place} complained about {weather} and about a bill over {n} kWh from the year {year}.",
    "Cobwebs, {k} dead flies and a glove were removed from the box, and {person} signed for it on page {page}.",
    "Lamp {k} in the yard of the {place} is broken; its own little counter showed {n} kWh when it was last seen in {year}.",
    "On the way {person} warned me of {weather}, and of the step behind the {place}, which is {k} hands high.",
]


def filler(page, at):
    words = {
        "place": pick(PLACES, page, at, "place"),
        "person": pick(PEOPLE, page, at, "person"),
        "weather": pick(WEATHER, page, at, "weather"),
        "n": f"{number(page, at, 'n') % 40 + 2} {number(page, at, 'm') % 900 + 100}",
        "k": number(page, at, "k") % 7 + 3,
        "hour": number(page, at, "hour") % 9 + 4,
        "year": 2022 + number(page, at, "year") % 8,
        "page": pick(OTHERS, page, at, "page"),
    }
    return pick(SENTENCES, page, at, "sentence").format(**words)


def text_of(page, heading, facts):
    lines = [filler(page, at) for at in range(44)]
    for at, fact in zip((17, 26) if number(page) % 2 else (24, 19), facts):
        lines[at] = fact
    return f"{heading}\n{'=' * len(heading)}\n\n" + "\n".join(lines) + "\n"


pages = {page: text_of(page, f"{site}, protocol of the round of 2031", (use, after)) for page, site, use, after in ROUND}
for page in OTHERS:
    site, year = pick(PLACES, page).title(), 2022 + number(page) % 8
    use = f"The counter shows {number(page, 'use') % 40 + 2} {number(page, 'kwh') % 900 + 100} kWh this time."
    pages[page] = text_of(page, f"{site}, protocol of the round of {year}", (use, f"Then on to {pick(OTHERS, page, 'next')}."))
store = {}
for page, text in sorted(pages.items()):
    data = zlib.compress(text.encode(), 9)
    stream = b"".join(digest(page, str(at)) for at in range(len(data) // 32 + 1))
    store[digest("name", page).hex()] = base64.b85encode(bytes(a ^ b for a, b in zip(data, stream))).decode()
Path("desk/store.json").write_text(json.dumps(store, indent=1) + "\n")
PYTHON
