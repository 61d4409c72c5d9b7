"""Invoices and bank payments that have to be matched by rules of tolerance, stated once in the instruction.

Drawn: customers, amounts, days, how far an amount and a day may be off, the fee that banks abroad keep back, and which
rule each pair strains: at its limit, just beyond it, two payments for one invoice, a returned payment.
"""

from datetime import date, timedelta

from harness_eval.draws import Draws
from harness_eval.templates import expected_text, plan_text, shared

SHARED = ("task.toml", "environment/Dockerfile", "tests/test.sh", "tests/check.py")
TRADES = ["Bakery", "Bindery", "Boatyard", "Brewery", "Dairy", "Foundry", "Nursery", "Pottery", "Sawmill", "Tannery"]
TOWNS = ["Alder", "Birk", "Corran", "Dunmore", "Elsing", "Fell", "Garth", "Holm", "Iver", "Keld", "Lund", "Moss"]
INSTRUCTION = """# Which invoices are paid?

`books/invoices.csv` has the columns `invoice,date,customer,cents`, `books/bank.csv` the columns
`payment,date,reference,cents,note`. All amounts are whole cents, all days are written like 2032-03-31.

A payment **fits** an invoice when all of this holds:

- The payment's reference, without blanks and hyphens and in upper case, ends with the customer's number (also without
  its hyphen): the reference `inv {sample_low}` belongs to the customer `{sample}`.
- The payment's day is the invoice's or at most {days} days later.
- The payment may be less than the invoice by up to {less} cents and more by up to {more} cents. From a payment with the
  note `abroad`, a bank has kept back {fee} cents: these are added to the payment before it is compared.
- A payment with the note `returned` fits no invoice.

Go through the invoices from the earliest to the latest, on one day by their number. Each takes the earliest payment
that fits and is still free (on one day the smaller number), whatever comes later; a payment pays one invoice only.

Write into a new folder `result/`:

1. `matches.csv`: first line `invoice,payment,difference`, then one line for each paid invoice, ascending by invoice.
   The difference is the payment (with the {fee} cents, where they are added) minus the invoice.
2. `open.txt`: the invoices that are not paid, one a line, ascending.
3. `unused.txt`: the payments that pay nothing, one a line, ascending; the returned ones belong to them.
4. `totals.json`: an object with `paid`, `open` and `unused` (how many lines the three have, the header not counted),
   and `difference` (the sum of all differences).

Nothing else may be in `result/`, and `books/` stays as it is.
"""
SOLVER = '''import csv
import json
from datetime import date
from pathlib import Path

DAYS, LESS, MORE, FEE = @RULES@
invoices = sorted(csv.DictReader(open("books/invoices.csv")), key=lambda row: (row["date"], row["invoice"]))
payments = sorted(csv.DictReader(open("books/bank.csv")), key=lambda row: (row["date"], row["payment"]))
free, matches = [row for row in payments if row["note"] != "returned"], []
for invoice in invoices:
    for payment in free:
        reference = payment["reference"].replace(" ", "").replace("-", "").upper()
        days = (date.fromisoformat(payment["date"]) - date.fromisoformat(invoice["date"])).days
        difference = int(payment["cents"]) + FEE * (payment["note"] == "abroad") - int(invoice["cents"])
        known = reference.endswith(invoice["customer"].replace("-", ""))
        if known and 0 <= days <= DAYS and -LESS <= difference <= MORE:
            matches.append((invoice["invoice"], payment["payment"], difference))
            free.remove(payment)
            break
paid, used = {match[0] for match in matches}, {match[1] for match in matches}
left = sorted(row["invoice"] for row in invoices if row["invoice"] not in paid)
unused = sorted(row["payment"] for row in payments if row["payment"] not in used)
lines = ["invoice,payment,difference", *("%s,%s,%d" % match for match in sorted(matches))]
Path("result").mkdir(exist_ok=True)
for name, rows in (("matches.csv", lines), ("open.txt", left), ("unused.txt", unused)):
    Path("result", name).write_text("".join(row + "\\n" for row in rows))
total = sum(match[2] for match in matches)
print(f"paid {len(matches)} open {len(left)} unused {len(unused)} difference {total}")
'''
TOTALS = '{\n  "paid": ${paid},\n  "open": ${left},\n  "unused": ${unused},\n  "difference": ${difference}\n}\n'


def matched(invoices: list[tuple], payments: list[tuple], rules: tuple[int, int, int, int]) -> dict:
    """The right answer: rows are (number, day, customer, cents) and (number, day, customer, cents, note)."""
    days, less, more, fee = rules
    matches, used = [], set()
    for invoice, due, customer, cents in sorted(invoices, key=lambda row: (row[1], row[0])):
        for payment, day, payer, paid, note in sorted(payments, key=lambda row: (row[1], row[0])):
            difference = paid + (fee if note == "abroad" else 0) - cents
            fits = payer == customer and 0 <= day - due <= days and -less <= difference <= more
            if fits and note != "returned" and payment not in used:
                matches.append([invoice, payment, difference])
                used.add(payment)
                break
    paid = {match[0] for match in matches}
    return {
        "matches": sorted(matches),
        "open": sorted(row[0] for row in invoices if row[0] not in paid),
        "unused": sorted(row[0] for row in payments if row[0] not in used),
    }


def rows(draws: Draws, customers: list[str], rules: tuple[int, int, int, int]) -> tuple[list[tuple], list[tuple]]:
    """Invoices, and payments which strain the rules; days are counted from the first one."""
    days, less, more, fee = rules
    invoices, payments = [], []
    numbers = draws.sample(range(2000, 9999), 140)
    kinds = "plain least most late abroad returned twice short over overdue home none"
    for kind in draws.shuffled(kinds.split() * 4):
        invoice, customer = f"R{numbers.pop()}", draws.choice(customers)
        due, cents = draws.integer(0, 70), draws.integer(4000, 90000)
        invoices.append((invoice, due, customer, cents))
        lag = {"late": days, "overdue": days + 1}.get(kind, draws.integer(0, days - 1))
        offset = {"least": -less, "most": more, "short": -less - 1, "over": more + 1}.get(kind)
        offset = draws.integer(-less + 1, more - 1) if offset is None else offset
        note = {"abroad": "abroad", "returned": "returned"}.get(kind, "")
        if kind in {"least", "over"} and draws.integer(0, 1):
            note = "abroad"
        if note == "abroad":
            offset -= fee
        if kind == "home":  # as if a bank abroad had kept its fee, but it was none
            offset -= fee + less
        if kind != "none":
            payments.append((f"B{numbers.pop()}", due + lag, customer, cents + offset, note))
        if kind == "twice":
            again = min(due + days, due + lag + draws.integer(0, 2))
            payments.append((f"B{numbers.pop()}", again, customer, cents + draws.integer(-less, more), ""))
            second = cents + draws.integer(-(more // 2), less // 2)
            invoices.append((f"R{numbers.pop()}", due + draws.integer(0, 2), customer, second))
    return invoices, payments


def table(head: str, lines: list[tuple]) -> str:
    """A CSV file."""
    return "\n".join([head, *(",".join(map(str, line)) for line in lines)]) + "\n"


def instance(draws: Draws) -> dict[str, str]:
    """Two books and what follows from them."""
    names = [f"{town} {trade}" for town, trade in zip(draws.sample(TOWNS, 9), draws.sample(TRADES, 9), strict=True)]
    prefix = draws.choice(["KD", "CU", "AC", "DB", "MK"])
    customers = [f"{prefix}-{number}" for number in draws.sample(range(1000, 9999), len(names))]
    rules = (draws.integer(9, 25), draws.integer(20, 90), draws.integer(20, 90), draws.integer(120, 480))
    invoices, payments = rows(draws, customers, rules)
    start = date(draws.integer(2030, 2036), draws.integer(1, 12), draws.integer(1, 28))
    names_of = dict(zip(customers, names, strict=True))

    def reference(customer: str) -> str:
        kinds = ("{}", "inv {}", "thanks {}", names_of[customer].upper() + " {}", "Re. {}")
        spelt = draws.choice([customer, customer.replace("-", ""), customer.lower(), customer.replace("-", " ")])
        return draws.choice(kinds).format(spelt)

    def day(number: int) -> str:
        return (start + timedelta(days=number)).isoformat()

    bank = [(number, day(when), reference(who), cents, note) for number, when, who, cents, note in payments]
    files = {
        "books/invoices.csv": table(
            "invoice,date,customer,cents",
            draws.shuffled((number, day(due), who, cents) for number, due, who, cents in invoices),
        ),
        "books/bank.csv": table("payment,date,reference,cents,note", draws.shuffled(bank)),
    }
    sample = f"{prefix}-{draws.integer(100, 999)}0"
    solver = SOLVER.replace("@RULES@", repr(rules))
    days, less, more, fee = rules
    return (
        shared(__file__, *SHARED)
        | {f"environment/files/{name}": text for name, text in files.items()}
        | {
            "instruction.md": INSTRUCTION.format(
                days=days, less=less, more=more, fee=fee, sample=sample, sample_low=sample.lower().replace("-", " ")
            ),
            "tests/expected.json": expected_text(matched(invoices, payments, rules) | {"given": files}),
            "solution/solve.sh": f"""#!/bin/bash
set -euo pipefail
said=$(python3 -I - <<'PYTHON'
{solver}PYTHON
)
sed -E 's/([a-z]+) (-?[0-9]+) ?/"\\1": \\2, /g; s/, $//; s/.*/{{&}}/' <<< "$said" > result/totals.json
""",
            "solution/plan.yaml": plan_text(
                "${paid} invoices are paid and ${left} are open; everything is in result/.", plan_steps(solver)
            ),
        }
    )


def plan_steps(solver: str) -> list[dict]:
    """Both books, a program for the rules, its totals."""
    learn = {
        "paid": r"^paid (\d+) open",
        "left": r"^paid \d+ open (\d+) ",
        "unused": r" unused (\d+) difference",
        "difference": r"difference (-?\d+)$",
    }
    return [
        {"say": "I look at the invoices.", "run": "head -n 20 books/invoices.csv", "goal": "read"},
        {"say": "I look at the payments.", "run": "head -n 30 books/bank.csv", "goal": "read"},
        {"say": "I write the rules as a program.", "create": {"path": "match.py", "text": solver}, "goal": "match"},
        {"say": "I run it.", "run": "python3 match.py", "learn": learn, "goal": "match"},
        {"say": "I write the totals.", "create": {"path": "result/totals.json", "text": TOTALS}, "goal": "totals"},
        {"say": "I check what is there.", "run": "wc -l result/*; cat result/totals.json", "goal": "totals"},
    ]
