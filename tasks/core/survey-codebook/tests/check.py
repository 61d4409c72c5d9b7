"""Judges the codes (by the share of right ones) and the weights, half each; changed sources give nothing."""

import csv
import io
import os
from pathlib import Path

from workspace import content, digest_of

GIVEN = {
    "answers.txt": "95d52a89998c9f371ffcd17a52e1f5fdbe9ffa17c4a140d8e63fe287b88d1d1c",
    "codebook/page-01.txt": "c6044153a75c4a7eee029c3dc64c40175cc6d83a7ae457f798f0aa029632e071",
    "codebook/page-02.txt": "99af7cb1f155804c9a87c15b708860a192217da65af7b11f43a9dbcf7be449ed",
    "codebook/page-03.txt": "4c45a8803af262242a1465854ee9852050c845c8ee035d6205af21544e7784f0",
    "codebook/page-04.txt": "04a7deae33f5a7f028b05d92c4f4e98d07b12cf6d56b806995336b4cc17bd441",
    "codebook/page-05.txt": "f4c447863e2655d4005e3f30a63782c4b54d92a10f00cb92cfd59ae44fff0e7b",
    "codebook/page-06.txt": "b138ed46568d0e1a026543a8cdc8694c622c890b28436cec324da1e10aad55c4",
    "codebook/page-07.txt": "b28b817201d489851f03cd5ed2b59e0cbdd35a60ccf6bf21e047d2cd42512b2b",
    "codebook/page-08.txt": "2490c4b0231baba3f87af69cca9f361d6ea71c9f5b0b59987b857bb4008f7ab0",
    "codebook/page-09.txt": "92305e04bd3e0e7bcecdebe95e040384b9f131c9ed5f7ea3311a6cb5bea3317c",
    "codebook/page-10.txt": "8178f4c66e2a3b89c156f75da4d043baf78d0412722e241317ec77a2ad15c9b2",
}
CODES = {
    "A-01": "892",
    "A-02": "362",
    "A-03": "826",
    "A-04": "184",
    "A-05": "553",
    "A-06": "000",
    "A-07": "507",
    "A-08": "522",
    "A-09": "197",
    "A-10": "664",
    "A-11": "282",
    "A-12": "853",
    "A-13": "246",
    "A-14": "553",
    "A-15": "634",
    "A-16": "000",
    "A-17": "381",
    "A-18": "224",
    "A-19": "000",
    "A-20": "573",
}
THEMES = [
    ["theme", "answers", "weight", "total"],
    ["Opening hours", "2", "52", "104"],
    ["Noise", "2", "51", "102"],
    ["Warmth", "2", "63", "126"],
    ["The catalogue", "2", "79", "158"],
    ["Loans", "2", "76", "152"],
    ["Computers", "1", "69", "69"],
    ["Rooms", "2", "63", "126"],
    ["Books and papers", "3", "28", "84"],
    ["Events", "1", "82", "82"],
]


def table(name: str) -> list[list[str]]:
    """The rows of a CSV file, blanks at the ends of cells and empty rows left out; none if it is no such file."""
    try:
        rows = list(csv.reader(io.StringIO(content(name).decode("utf-8-sig"))))
    except (ValueError, csv.Error):
        return []
    return [cells for row in rows if any(cells := [cell.strip() for cell in row])]


def coded() -> float:
    """The share of answers with the right code; 0 where a line is missing, doubled or in another place."""
    rows = table("coded.csv")
    if [row[:1] for row in rows] != [["answer"], *([answer] for answer in CODES)] or {len(row) for row in rows} != {2}:
        return 0.0
    staff = [answer for answer, code in CODES.items() if code == "000"]
    right = [answer for answer, code in rows[1:] if code == CODES[answer]]
    print(f"rightly coded: {right}")
    return len(right) / len(CODES) if len(right) > len(staff) else 0.0


def score() -> float:
    """The reward in 0..1."""
    if any(digest_of(name) != wanted for name, wanted in GIVEN.items()):
        print("the answers or the codebook were changed")
        return 0.0
    weighed = table("themes.csv") == THEMES
    print(f"themes.csv: {weighed}")
    return (coded() + weighed) / 2


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")
