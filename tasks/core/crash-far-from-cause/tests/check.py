"""Prints other data with the corrected program; the correction must stand in one file where wrong values can arise."""

import os
from pathlib import Path

from solver import answers, copied
from workspace import digest_of

GIVEN = {
    "data": "",
    "data/FORMAT.md": "1699dc8244c771a0e5537c5615830a3e313f13219519ea04f1d4fefa5f5c3890",
    "data/lines.txt": "e54aa8ac78b10c23528314f26084ca8677b5d0cbce2d05482e827c54d8f1052a",
    "data/stops.txt": "39a9cb56784266345d64d01b52b6ca1a4f22f1c7d703904dc260081ab76e5217",
    "data/trips.txt": "74855cd33a7599605df4dee246e63ff817afb63a5144b4810718f96a569097d8",
    "data/variants.txt": "c93e8686c14785c4bd2ff749d6e79e6cfc6d539297af4da20758b8ce6c167f6c",
    "print_timetable.py": "9a115ce5de8333413beb947df133b4b125f0d672e5689814c6371dc93485315f",
    "timetable": "",
    "timetable/__init__.py": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "timetable/layout": "",
    "timetable/layout/__init__.py": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "timetable/layout/columns.py": "d61ef3aebd464df89d3b5e1705f4c038772e2f7e5e702e0835c6f88a77f541f8",
    "timetable/layout/errors.py": "adcec6eb1aae7d4626481feff526a24038827d94093136a25d3b8dc49a3e8e1b",
    "timetable/layout/grid.py": "788b9e465c458b06602f08b1570100d4aafba373374328da5dc00b9e51699144",
    "timetable/layout/page.py": "474f1b82be9c13c91220165b7d944a7bfa66f281271ec4fee38464a13390112c",
    "timetable/model.py": "564e0d2110a661b41c63e12cf168839419997e680bcf7f9125b94d333ec5d4be",
    "timetable/reading": "",
    "timetable/reading/__init__.py": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "timetable/reading/lines.py": "2affa3ba004e54e2676e4e8b151a133dbbbfc75450a475f5918c4f646de84968",
    "timetable/reading/stops.py": "a8d288ed495022cc3288b3beec55ab4948be8541d1ff4dc5f76cb10d87d0cf9d",
    "timetable/reading/text.py": "dcf7a238afaae9e42e0173553c40afc6341531a1aca4b693f37b3f5457cc77b0",
    "timetable/reading/trips.py": "f32d0fec267b744fdea4265b0b8c6e8b3f07e9d6d5080e57fd12ab0ba6026e26",
    "timetable/reading/variants.py": "55cc39909a64789d0ca12de5089404b8ddaf35d3a0d2cb1a35946ca3b5adc7e2",
    "timetable/rules": "",
    "timetable/rules/__init__.py": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "timetable/rules/midnight.py": "e52396d13622e0ef0b4007c6e1675679f1063c76de6522b364f53882b9fb03fd",
    "timetable/rules/order.py": "cd66e9d349efd14f4fb78803b83f5a9564b9f7d86255d11c18dca21b35372b17",
    "timetable/rules/shorten.py": "74243b14500cb159596fd17192813cdef2ee73f5757cd0afa7904d6f56ddcec2",
}
ALLOWED = ("timetable/reading/", "timetable/rules/", "timetable/model.py")
PROBE = """
import json, subprocess, sys
results = {}
for name in json.load(sys.stdin):
    command = [sys.executable, "-EsB", "print_timetable.py", name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    results[name] = [done.stdout, done.stderr.strip().splitlines()[-1:]]
print(json.dumps(results))
"""
STOPS = "A;Alder;open\nB;Birch;open\nC;Cedar;open\nD;Damson;open\nE;Elm;closed\n"
# By name: lines, variants and trips, what is printed, and the last line of a refusal.
CASES = {
    "not-served": (
        "5;Wood line;A B C\n",
        "5X;Wood line express;5;B\n",
        "1;5;A=08:00 C=08:20\n2;5X;A=09:00 C=09:15\n",
        ("Line 5: Wood line\ntrip | Alder | Birch | Cedar\n1 | 08:00 | - | 08:20\n\n"
        "Line 5X: Wood line express (variant of 5)\ntrip | Alder | Cedar\n2 | 09:00 | 09:15\n"),
        [],
    ),
    "variant-of-a-variant": (
        "7;Long line;A B E C D\n8;Short line;D A\n",
        "7A;Long line, market days;7;B\n7B;Long line, holidays;7A;D\n7C;Long line, school;7;C E\n",
        ("10;7;A=07:00 B=07:05 E=07:06 C=07:10 D=07:20\n20;7A;A=08:00 C=08:10 D=08:20\n30;7B;A=09:00 C=09:10\n"
        "40;7C;A=10:00 B=10:05 D=10:15\n50;8;D=11:00 A=11:30\n11;7B;A=06:40\n"),
        ("Line 7: Long line\ntrip | Alder | Birch | Cedar | Damson\n10 | 07:00 | 07:05 | 07:10 | 07:20\n\n"
        "Line 7A: Long line, market days (variant of 7)\ntrip | Alder | Cedar | Damson\n20 | 08:00 | 08:10 | 08:20\n\n"
        "Line 7B: Long line, holidays (variant of 7A)\ntrip | Alder | Cedar\n11 | 06:40 | -\n30 | 09:00 | 09:10\n"
        "  note: 11 ends at A\n\n"
        "Line 7C: Long line, school (variant of 7)\ntrip | Alder | Birch | Damson\n40 | 10:00 | 10:05 | 10:15\n\n"
        "Line 8: Short line\ntrip | Damson | Alder\n50 | 11:00 | 11:30\n"),
        [],
    ),
    "last-stop": (
        "3;Mill line;A B C\n",
        "3S;Mill line, short;3;C\n",
        "6;3;A=23:50 B=24:10\n7;3;A=05:10 B=05:15 C=05:30\n8;3S;A=05:20 B=05:25\n",
        ("Line 3: Mill line\ntrip | Alder | Birch | Cedar\n7 | 05:10 | 05:15 | 05:30\n6 | 23:50 | 00:10+ | -\n"
        "  note: 6 ends at B\n\n"
        "Line 3S: Mill line, short (variant of 3)\ntrip | Alder | Birch\n8 | 05:20 | 05:25\n"),
        [],
    ),
    "variant-serves-skipped": (
        "3;Mill line;A B C\n",
        "3S;Mill line, short;3;B\n",
        "7;3;A=05:10 B=05:15 C=05:30\n8;3S;A=05:20 B=05:25\n",
        "",
        ["timetable.layout.errors.LayoutError: no column for stop B of trip 8: is it in stops.txt, and open?"],
    ),
    "stop-of-another-line": (
        "3;Mill line;A B\n4;Hill line;B C\n",
        "",
        "7;3;A=05:10 C=05:30\n",
        "",
        ["timetable.layout.errors.LayoutError: no column for stop C of trip 7: is it in stops.txt, and open?"],
    ),
}


def changed() -> list[str]:
    """What was changed, removed or added."""
    found = {}
    for folder, names, files in os.walk("."):
        names[:] = [name for name in names if name != "__pycache__"]
        for path in (Path(folder, name) for name in names + files):
            plain_folder = path.is_dir() and not path.is_symlink()
            found[path.as_posix()] = "" if plain_folder else digest_of(path)
    return sorted(name for name in {*found, *GIVEN} if found.get(name) != GIVEN.get(name))


def score() -> float:
    """A half for right timetables, the other half for a correction where the instruction wants it."""
    touched = changed()
    in_place = len(touched) == 1 and touched[0].startswith(ALLOWED) and touched[0] in GIVEN
    folder = copied(name for name, digest in GIVEN.items() if digest)
    for name, parts in CASES.items():
        Path(folder, name).mkdir()
        for file, text in zip(("stops", "lines", "variants", "trips"), (STOPS, *parts), strict=False):
            Path(folder, name, f"{file}.txt").write_text(text, encoding="utf-8")
    found = answers(PROBE, list(CASES), folder)
    wanted = {name: [*parts[3:]] for name, parts in CASES.items()}
    wrong = [name for name in wanted if not isinstance(found, dict) or found.get(name) != wanted[name]]
    print(f"wrong: {wrong}; touched: {touched[:20]!a}")
    return 0.0 if wrong else 1.0 if in_place else 0.5


REWARD = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
REWARD.write_text("0\n", encoding="utf-8")
REWARD.write_text(f"{score():.4f}\n", encoding="utf-8")
