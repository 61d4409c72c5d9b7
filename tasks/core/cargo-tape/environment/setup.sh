#!/bin/bash
# Writes tape/cargo.dat: always the same bytes.
set -euo pipefail
mkdir -p tape
python3 -I - <<'PYTHON'
import datetime
import hashlib


def draw(limit, *parts):
    """A number below the limit that depends on the parts alone."""
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:6], "big") % limit


SHIPS = ["Åse Marie", "Gaivota", "Süderoog", "Niño Jesús", "Brúarfoss", "Étoile du Nord", "Maid of Marwick"]
MASTERS = ["J. Sørensen", "M. Gonçalves", "K. Großmann", "P. Ibáñez", "H. Þórsson", "L. Lefèvre", "O. Öberg"]
GOODS = ["smörgås  biscuits", "bacalhau, salgado", "Käse in Rädern", "jalapeños (dried)", "skyr", "crème de châtaigne",
         "rope", "lanolin", "salt", "tonic  water", "øl på fat", "piñas", "Grünkohl", "pão de ló", "œufs"[1:], "wool"]
WHERE = ["", " à bord", ", for Ñuñoa", " - Straße 9", " (Ærø)", ", 2nd hand", " ½ price", ""]


def packed(number, size):
    digits = f"{abs(number):0{2 * size - 1}d}" + ("d" if number < 0 else "cf"[number % 2])
    return bytes.fromhex(digits)


def zoned(number, size):
    digits = f"{abs(number):0{size}d}"
    return (digits[:-1] + ("}JKLMNOPQR" if number < 0 else "{ABCDEFGHI")[int(digits[-1])]).encode()


def record(*parts):
    data = b"".join(parts)
    filler = hashlib.sha256(data).digest() * 3
    return data + filler[: 72 - len(data)]


records, page, kept, number = [record(b"H", b"MARWICK ")], "latin-1", [], 0
day = datetime.date(1994, 1, 3)
for n in range(30):
    if n in (9, 16, 23):
        page = {9: "cp850", 16: "latin-1", 23: "macroman"}[n]
        records.append(record(b"P", page.encode().ljust(8)))
    day += datetime.timedelta(days=1 + draw(9, "day", n)) if n != 21 else datetime.timedelta(days=2300)
    voyage, which = f"M{1000 + 17 * n + draw(17, 'voyage', n):05d}", draw(7, "ship", n)
    ship, master = SHIPS[which], MASTERS[draw(7, "master", n)]
    head = b"V" + voyage.encode() + bytes.fromhex(f"{day:%y%m%d}")
    records.append(record(head, *(text.replace("Þ", "Th").encode(page, "ignore").ljust(24) for text in (ship, master))))
    items = draw(7, "items", n)
    voids = [(1 + draw(items, "void", n)) for _ in range(1) if items > 2 and draw(2, "voiding", n)]
    if voids and draw(2, "early", n):
        records.append(record(b"X", voyage.encode(), f"{voids[0]:03d}".encode()))
    for item in range(1, items + 1):
        goods = GOODS[draw(16, "goods", n, item)] + WHERE[draw(8, "where", n, item)]
        goods = ("  " if item > 1 and draw(4, "indent", n, item) == 0 else "") + goods
        goods = goods.encode(page, "ignore").decode(page)[:32].rstrip()
        weight = 10 + draw(90000, "weight", n, item)
        value = (draw(4000000, "value", n, item) - 400000) if draw(9, "zero", n, item) else -draw(10, "small", n, item)
        agreed = day + datetime.timedelta(days=5 + draw(60, "due", n, item))
        due = f"{agreed:%Y%j}f" if draw(6, "agreed", n, item) else "0000000f"
        start = b"C" + f"{item:03d}".encode() + goods.encode(page).ljust(32)
        records.append(record(start, packed(weight, 4), zoned(value, 9), bytes.fromhex(due)))
        if item not in voids:
            kept.append((goods, weight))
    if voids and records[-items - 1][:1] != b"X":
        records.append(record(b"X", voyage.encode(), f"{voids[0]:03d}".encode()))
letters = sum(not letter.isascii() for goods, _ in kept for letter in goods)
total = packed(sum(weight for _, weight in kept), 5)
records.append(record(b"T", f"{len(kept):05d}".encode(), total, f"{letters:010d}".encode()))
with open("tape/cargo.dat", "wb") as file:
    file.write(b"".join(records))
PYTHON
