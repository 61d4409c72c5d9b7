"""Checks the package from outside: python3 selftest.py"""

import json

import orders
from orders.export import invoice
from orders.shipping import postage

ORDER = orders.Order(
    "2024-117",
    (orders.Line("lamp", 2, 2495, 900), orders.Line("bulb", 5, 333, 40, "B"), orders.Line("cable", 1, 1250, 310)),
    rebate=7,
    paid=1000,
)


def main() -> None:
    """Compare what the functions return with what was worked out by hand."""
    written = json.loads(invoice(ORDER))
    checks = [
        ("still to pay", orders.net_total(ORDER), 6352),
        ("weight", orders.net_total_weight(ORDER), 2310),
        ("zone B", orders.subnet_total(ORDER, "B"), 1665),
        ("export", written["net_total"], 6352),
        ("postage", postage(ORDER), 570),
    ]
    for name, got, wanted in checks:
        print(f"{name}: {got} {'ok' if got == wanted else f'instead of {wanted}'}")
    print("selftest passed" if all(got == wanted for _, got, wanted in checks) else "selftest FAILED")


if __name__ == "__main__":
    main()
