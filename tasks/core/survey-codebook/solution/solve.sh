#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import re
from pathlib import Path

STAFF = ("A-06", "A-16", "A-19")
MATTERS = {
    "A-02": (1, "closes too early on Saturdays"),
    "A-08": (1, "was closed without notice"),
    "A-13": (2, "telephones in the rooms"),
    "A-18": (2, "the ventilation hums"),
    "A-11": (4, "spelling must be exact"),
    "A-07": (5, "loan time too short"),
    "A-15": (5, "the return box jams"),
    "A-09": (6, "session ends without warning"),
    "A-01": (7, "no sockets"),
    "A-10": (7, "lift out of order"),
    "A-04": (8, "newspapers torn or missing"),
    "A-17": (8, "large print wanted"),
    "A-20": (8, "new books come late"),
    "A-12": (9, "evenings are full"),
    "A-03": (4, "maps"),
    "A-05": (3, "time of day"),
    "A-14": (3, "time of day"),
}
pages = [" ".join(Path(f"codebook/page-{n:02d}.txt").read_text().split()) for n in range(1, 11)]
codes = {name: code for page in pages for code, name in re.findall(r"Code (\d{3}), ([^.]*)\.", page)}
codes["time of day"] = re.search(r"time of day, however they name it, get code (\d{3})", pages[9])[1]
codes["maps"] = re.search(r"a book of maps, the answer gets code (\d{3})", pages[9])[1]
numbers = [line.split("\t")[0] for line in open("answers.txt", encoding="utf-8")]
with open("coded.csv", "w") as file:
    file.write("answer,code\n")
    file.writelines(f"{number},{'000' if number in STAFF else codes[MATTERS[number][1]]}\n" for number in numbers)
with open("themes.csv", "w") as file:
    file.write("theme,answers,weight,total\n")
    for n in range(1, 10):
        theme = re.match(r"Theme \d: (.*?) This page", pages[n - 1])[1]
        weight = re.search(r"weighs (\d+) points", pages[n - 1])[1]
        weight = int(weight[::-1] if theme == "Loans" else weight)
        answers = sum(page == n for page, _ in MATTERS.values())
        file.write(f"{theme},{answers},{weight},{answers * weight}\n")
PYTHON
