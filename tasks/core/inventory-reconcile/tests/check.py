"""Are the four reports right?"""

import csv
import json

from workspace import content, digest_of

ONLY_WAREHOUSE = """
BR-07796 DD-08094 DK-03720 DR-00361 KD-05050 KM-07878 KM-09430 KR-00691 KT-06251 MM-01492 MM-08018 RD-07826
RM-07590 RT-03781 TB-00412 TM-01801 TM-09215
"""
ONLY_SHOP = """
BT-03353 BT-03792 DR-04830 DT-01055 KB-02302 KR-07202 MB-02491 MK-00091 MM-04133 MT-03136 RB-04899 RK-00798
RK-02759 TB-01245 TD-01347 TK-02654 TK-05994
"""
DIFFERENCES = """
article,warehouse,shop,difference BT-07167,55,60,5 DK-06384,16,11,-5 TT-02243,7,12,5 BB-07210,16,12,-4
BR-03606,23,27,4 BR-05699,45,49,4 KB-07274,25,29,4 KK-00561,23,27,4 MD-06270,28,24,-4 MR-06458,45,49,4
MR-03779,29,26,-3 MT-01981,47,50,3 TM-00291,48,45,-3 TM-09592,37,34,-3 MD-04576,39,41,2 RR-00420,43,41,-2
BT-00093,47,46,-1 DM-02566,30,29,-1 MD-02047,23,24,1 MT-03268,58,57,-1 RK-09632,51,50,-1 RR-04847,48,47,-1
TD-05203,18,17,-1 TT-08378,28,27,-1
"""
SUMMARY = {"only_warehouse": 17, "only_shop": 17, "different": 24, "equal": 90, "first": "BT-07167"}
UNTOUCHED = {
    "stores/NOTES.md": "58f2c7d3a7aa49bfb2199bac5af19b4a98b32eabe2af10f665e4e1d5fe717f12",
    "stores/shop.json": "44a5e0f6fa15c2c1beba92febfa6bfb2540f18b3591b623a67def7950b17fbb3",
    "stores/warehouse.csv": "d66ca9c67433ac6652a61ab447bd2ad52e3a5c5b3e3197ee6c0962e6cccf8713",
}


def lines(name: str) -> list[str]:
    """The lines of a report without blank ones."""
    text = content(f"report/{name}").decode("utf-8-sig")
    return [line.strip() for line in text.splitlines() if line.strip()]


def only_warehouse() -> None:
    """In order, and complete."""
    assert lines("only-warehouse.txt") == ONLY_WAREHOUSE.split()


def only_shop() -> None:
    """In order, and complete."""
    assert lines("only-shop.txt") == ONLY_SHOP.split()


def differences() -> None:
    """Largest first, ties by article."""
    rows = [",".join(field.strip() for field in row) for row in csv.reader(lines("differences.csv"))]
    assert rows == DIFFERENCES.split()


def summary() -> None:
    """Exactly the five keys."""
    found = json.loads(content("report/summary.json").decode("utf-8-sig"))
    assert json.dumps(found, sort_keys=True) == json.dumps(SUMMARY, sort_keys=True), f"summary.json says {found}"


def stores() -> None:
    """The lists and their rules, by digest."""
    for name, digest in UNTOUCHED.items():
        assert digest_of(name) == digest, name


GOALS = (only_warehouse, only_shop, differences, summary)
KEPT = (stores,)
