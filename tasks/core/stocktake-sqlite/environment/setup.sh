#!/bin/bash
# Writes seedbank.db and stocktake.csv: always the same content.
set -euo pipefail
python3 -I - <<'PYTHON'
import hashlib
import sqlite3


def draw(limit, *parts):
    """A number below the limit that depends on the parts alone."""
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:6], "big") % limit


SCHEMA = """
create table species (name text primary key, minimum integer not null);
create table lots (
  lot text primary key, species text not null references species, shelf text not null, grams integer not null,
  sealed integer not null default 0 check (sealed in (0, 1))
);
create table corrections (
  id integer primary key, lot text not null references lots, old_grams integer not null, new_grams integer not null,
  reason text not null, counter text not null
);
create table seal_log (id integer primary key, lot text not null, what text not null check (what in ('opened', 'sealed')));
create view stock as select species, sum(grams) as grams from lots group by species;
create trigger keep_sealed before update of grams on lots when old.sealed = 1
begin
  -- the scales of the old program wrote to sealed lots by mistake: such writes are passed over without a word
  select raise(ignore);
end;
create trigger keep_announced before update of grams on lots when old.sealed = 0 and not exists (
  select 1 from corrections where lot = old.lot and old_grams = old.grams and new_grams = new.grams
)
begin
  -- the message is what the old program expected of an update that was not announced
  select raise(abort, 'database is locked by another process, wait and try again');
end;
create trigger log_seals after update of sealed on lots when old.sealed <> new.sealed
begin
  insert into seal_log (lot, what) values (new.lot, case new.sealed when 1 then 'sealed' else 'opened' end);
end;
"""
NAMES = "agrimony betony borage burnet campion centaury chicory clary comfrey corncockle dyers-rocket flax hyssop knapweed".split()
NAMES += "lovage mallow melilot mullein orache oxeye ragged-robin rampion sainfoin scabious skirret sorrel tansy teasel".split()
NAMES += "vetch weld woad yarrow".split()
base = sqlite3.connect("seedbank.db")
base.executescript(SCHEMA)
lots = []
for name in NAMES:
    for n in range(draw(9, "lots", name) if name != "skirret" else 0):
        lot = f"{name[:2].upper()}{NAMES.index(name):02d}-{100 + draw(900, 'lot', name, n)}"
        shelf = "ABCDEF"[draw(6, "shelf", lot)] + str(1 + draw(30, "row", lot))
        lots.append((lot, name, shelf, 20 + draw(700, "grams", lot), int(draw(4, "sealed", lot) == 0)))
lots = sorted({lot[0]: lot for lot in lots}.values())
for name in NAMES:
    total = sum(lot[3] for lot in lots if lot[1] == name)
    base.execute("insert into species values (?, ?)", (name, max(20, total - 60 + draw(80, "minimum", name))))
base.executemany("insert into lots values (?, ?, ?, ?, ?)", lots)
for n in range(9):
    lot = lots[draw(len(lots), "old", n)]
    old = lot[3] + 5 + draw(40, "was", n)
    row = (lot[0], old, lot[3] if n % 2 else lot[3] + 2, "stocktake 2030-09", "Rowan")
    base.execute("insert into corrections (lot, old_grams, new_grams, reason, counter) values (?, ?, ?, ?, ?)", row)
for n in range(8):
    base.execute("insert into seal_log (lot, what) values (?, ?)", (lots[n // 2 * 5][0], ("opened", "sealed")[n % 2]))
base.commit()
base.close()
rows = []
for lot, *_, grams, sealed in lots:
    if draw(8, "counted", lot) == 0:
        continue
    if draw(3, "differs", lot) == 0:
        grams = max(1, grams - 45 + draw(70, "new", lot))
    rows.append((lot, grams, ("Ines", "Tomos", "Yara")[draw(3, "counter", lot)]))
rows += [("WO30-077", 210, "Ines"), ("AG00-99", 31, "Yara"), ("SK24-100", 55, "Tomos")]
rows.sort(key=lambda row: draw(10**9, "order", row[0]))
with open("stocktake.csv", "w", encoding="utf-8") as file:
    file.write("lot,grams,counter\n")
    file.writelines(f"{lot},{grams},{counter}\n" for lot, grams, counter in rows)
PYTHON
