#!/bin/bash
# Writes the shop's sources and its routes: always the same bytes, sixty modules and some forty thousand characters.
set -euo pipefail
python3 -I - <<'PYTHON'
import random
from pathlib import Path

rng = random.Random(9117)


def shuffled(values):
    return sorted(values, key=lambda _: rng.random())


def below(limit):
    return int(rng.random() * limit)


PACKAGES = ["basket", "billing", "catalog", "coupons", "delivery", "ledger", "loyalty", "pricing", "returns", "stock"]
MODULES = ["audit", "export", "intake", "policy", "rules", "totals"]
VERBS = "add apply check close collect compare count hold merge open post release reserve settle split".split()
NOUNS = "batch bonus charge credit discount fee invoice margin order parcel refund voucher".split()
FIELDS = ["gross", "net", "paid", "due", "weight", "units"]
NOTES = {
    7: "    # legacy_rate(amount, currency) stood here until the ledger moved.\n",
    15: '    hint = "ask finance before legacy_rate() is used again"\n',
    29: "    # No need for legacy_rate any more: amounts arrive in euros.\n",
    38: "    amount += len(legacy_rate_table())\n",
    46: '    hint = "see legacy_rate(amount, currency)"\n',
}
CALLER = 41  # the module, in order of use, whose last function calls legacy_rate

modules = shuffled((package, module) for package in PACKAGES for module in MODULES)
names = shuffled(f"{verb}_{noun}" for verb in VERBS for noun in NOUNS)
children = {name: [] for name in names}
for at, name in enumerate(names[12:], 12):  # the first twelve are named by routes
    start = 3 * (at // 3)  # a caller stands in an earlier module, so that imports never form a circle
    children[names[max(0, start - 40) + below(min(start, 40))]].append(name)
module_of = {name: "shop." + ".".join(modules[at // 3]) for at, name in enumerate(names)}


def body(name, number, last):
    lines = [f"\n\ndef {name}(order):\n", f'    """{name.replace("_", " ").capitalize()}: one step of the order."""\n']
    lines.append(f'    amount = order["{FIELDS[below(6)]}"] * {2 + below(90)} + {below(9)}\n')
    if number == CALLER and last:
        lines.append('    amount += in_euros(amount, order["currency"])\n')
    if last:
        lines.append(NOTES.get(number, ""))
    lines.extend(f"    amount += {child}(order)\n" for child in children[name])
    return "".join([*lines, "    return amount\n"])


for number, (package, module) in enumerate(modules):
    own = names[3 * number : 3 * number + 3]
    used = [child for name in own for child in children[name]]
    imports = [f"from {module_of[child]} import {child}\n" for child in sorted(used, key=lambda child: module_of[child])]
    if number == CALLER:
        imports.append("from shop.core.money import legacy_rate as in_euros\n")
    if number == 21:
        imports.append("from shop.core.money import legacy_rate  # unused since the rates come with the order\n")
    if number == 38:
        imports.append("from shop.core.money import legacy_rate_table\n")
    text = f'"""{package.capitalize()}: {module}."""\n\n' + "".join(imports)
    if number == 52:
        text += "\n\ndef legacy_rate(parcel):\n    return parcel * 3 // 2\n\n\nOVERSIZE = legacy_rate(40)\n"
    path = Path("src/shop", package, f"{module}.py")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_name("__init__.py").write_text("")
    path.write_text(text + "".join(body(name, number, name == own[-1]) for name in own))
Path("src/shop/__init__.py").write_text("")
core = Path("src/shop/core")
core.mkdir()
(core / "__init__.py").write_text("")
(core / "money.py").write_text(
    '"""Money."""\n\n\ndef legacy_rate(amount, currency):\n    """To be removed."""\n'
    '    return amount * legacy_rate_table()[currency] // 1000\n\n\n'
    'def legacy_rate_table():\n    """Rates in thousandths."""\n    return {"EUR": 1000, "SEK": 87}\n'
)
METHODS = ["GET", "POST", "PUT", "DELETE"]
routes = [f"{METHODS[below(4)]:<6} /{name.replace('_', '-'):<20} {module_of[name]}:{name}\n" for name in names[:12]]
Path("routes.txt").write_text("".join(sorted(routes)))
PYTHON
