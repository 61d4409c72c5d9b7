#!/bin/bash
# Writes nine minutes of about 5,500 characters: always the same bytes. What was agreed stands somewhere in the middle.
set -euo pipefail
mkdir -p notes
python3 -I - <<'PYTHON'
import hashlib
import textwrap

PEOPLE = "Ilse Bram Oona Petr Salma Joris Wanda".split()
FIELDS = ["level", "station number", "checksum", "battery", "temperature", "magic number", "sequence number"]
REASONS = [
    "the old receivers would have to be opened for it",
    "nobody could say what it would cost in airtime",
    "the gauge at the lock has been doing so since spring",
    "half of the frames would come out one byte longer",
    "the harbour office reads the frames as they are",
    "it only helps in water that is calm anyway",
]
TALK = [
    "{P} would rather have given the {f} {s} bytes, since {r}; nobody followed.",
    "{P} read out the figures of the last {n} storms, in which {m} frames of {k} were lost.",
    "For a while it looked as if the {f} should move behind the {g}, but {P} showed that {r}, and the matter was dropped.",
    "{P} asked whether {m} was not a better modulus than {k} for the checksum; it was tried on {k} frames and made no difference.",
    "The receivers of the northern coast can be read only every {n} minutes, which {P} will take up with the harbour office.",
    "A proposal to write the {f} in steps of {n} was put off until somebody has measured what it does.",
    "{P} reported from the workshop: {n} floats were cleaned and {s} cables replaced, the last of them twice.",
    "{P} and {Q} disagreed about whether the {f} is needed at all, and whether {r}; it was left open.",
    "{Q} had brought a frame from station {k} whose {f} made no sense; it turned out that water had got into the plug.",
    "{P} suggested adding {m} to the {f} before it is written, as the barges do, but {r}.",
    "The minutes of the last meeting were read; {P} missed a remark of {Q} about the {f}, which was looked for and not found.",
    "Somebody had written the {f} with its bytes turned round on {n} stations; {P} has put them right.",
]
AGREED = [
    "After the break we agreed on what a frame looks like. It begins with the two magic bytes 54 and 47 (these are hexadecimal). Then come the "
    "station number in two bytes, the level in millimetres in two bytes, signed, and at the very end one byte of checksum: the sum of all bytes before "
    "it, modulo 256. Numbers of several bytes have their highest byte first.",
    "Two bytes are too few for the level where the ground has sunk. It was resolved that the level takes 3 bytes, and that 12000 is added to it, so that "
    "it is written without a sign.",
    "Petr's receiver wants to see the level first. We settled that the station number now stands directly behind the level. Also agreed: one byte for the battery, "
    "between station number and checksum, which counts whole steps of 50 millivolts, what is left over being dropped.",
    "Too many frames of zeros pass for good ones. It was agreed that the checksum begins with 17 instead of with nothing, and that it is taken modulo 251.",
    "The biologists get their temperature. It was resolved to put it directly in front of the battery, in two bytes: tenths of a degree with 500 added, so that it has no "
    "sign. Where none was measured both bytes are FF (hexadecimal), and no measured one may look like that.",
    "All new processors turn their bytes round. Agreed, with one vote against: numbers of several bytes have their lowest byte first from now on, except the station number, which "
    "stays as it is, because it is printed on the receivers' lids.",
    "Salma showed frames in which the sum of level and addend came out wrong. Therefore we agreed that nothing is added to the level any more; it is signed again, as a two's complement, in the "
    "number of bytes that it has had since February.",
    "Receivers must be able to tell old frames from new ones. It was settled that the second magic byte makes way for a version, which is 38 (hexadecimal); the first one remains as `magic`. "
    "Behind the version comes a new field of one byte, the sequence number, of which only the remainder on division by 200 is sent.",
    "The modulus of April was a mistake, it makes short bursts invisible. Resolved: the modulus is again that of January, but the checksum still begins with the number that was agreed in April, "
    "and magic and version are not summed up any more.",
]
MONTHS = "January February March April May June July August September".split()


def draw(values, *words):
    """One of the values, always the same for the same words."""
    number = hashlib.sha256(" ".join(map(str, words)).encode()).digest()
    return values[int.from_bytes(number[:4], "big") % len(values)]


for month, agreed in enumerate(AGREED, 1):
    paragraphs = []
    for part in range(7):
        sentences = []
        for at in range(6):
            place = (month, part, at)
            one, two = draw(PEOPLE, "P", place), draw(PEOPLE, "Q", place)
            other = PEOPLE[(PEOPLE.index(one) + 1 + PEOPLE.index(two) % 6) % 7]
            field = draw(FIELDS, "f", place)
            talk = TALK[(month * 5 + part * 7 + at * 11) % 12]
            sentences.append(talk.format(
                P=one, Q=other, f=field, g=draw([word for word in FIELDS if word != field], "g", place), r=draw(REASONS, "r", place),
                s=draw(["two", "three", "four", "five"], "s", place), n=draw(range(4, 48), "n", place), m=draw(range(60, 400), "m", place), k=draw(range(401, 999), "k", place),
            ))
        if part == 3:
            sentences.insert(2 + month % 3, agreed)
        paragraphs.append(textwrap.fill(" ".join(sentences), 110))
    text = f"# Meeting of {MONTHS[month - 1]} 2031\n\n" + "\n\n".join(paragraphs) + "\n"
    open(f"notes/2031-{month:02d}.md", "w", encoding="utf-8").write(text)
PYTHON
