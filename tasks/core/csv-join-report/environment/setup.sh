#!/bin/bash
# Writes the four tables and their notes: always the same bytes.
set -euo pipefail
mkdir -p data
python3 -I - <<'PYTHON'
import random

rng = random.Random(2203)


def below(limit):
    return int(rng.random() * limit)


def write(name, header, rows):
    text = "\n".join([header, *(",".join(str(value) for value in row) for row in rows)])
    open(f"data/{name}", "w", encoding="utf-8").write(text + "\n")


REGIONS = ["north", "south", "east", "west", "islands"]
customers = [(f"C{number:03d}", f"Customer {number}", REGIONS[below(5)]) for number in range(1, 41)]
products = [(f"P{number:02d}", f"Article {number}", 150 + 35 * below(120)) for number in range(1, 25)]
orders, returns = [], []
for number in range(1, 261):
    customer = f"C{1 + below(42):03d}"  # 41 and 42 are in no table
    product = f"P{1 + below(25):02d}"  # 25 is in no table
    quantity = 1 + below(9)
    orders.append((f"O{number:04d}", f"2031-{1 + below(3):02d}-{1 + below(28):02d}", customer, product, quantity))
    if rng.random() < 0.3:
        day = f"2031-{3 + below(2):02d}-{1 + below(28):02d}"
        returns.append((f"R{len(returns) + 1:03d}", f"O{number:04d}", day, 1 + below(quantity)))
for number in (17, 88, 141, 230):  # some orders come back in two parts, one on the last day and one a day later
    order, *_, quantity = orders[number]
    if quantity > 2 and all(row[1] != order for row in returns):
        returns.append((f"R{len(returns) + 1:03d}", order, "2031-04-11", 1))
        returns.append((f"R{len(returns) + 1:03d}", order, "2031-04-12", 1))
orders.sort(key=lambda row: (row[1], row[0]))
write("customers.csv", "customer_id,name,region", customers)
write("products.csv", "product_id,name,price_cents", products)
write("orders.csv", "order_id,day,customer_id,product_id,quantity", orders)
write("returns.csv", "return_id,order_id,received,units", returns)
PYTHON
cat > data/NOTES.md <<'NOTES'
# Notes on the tables

- `customers.csv`: one line a customer; `region` is where the goods go.
- `products.csv`: `price_cents` is the price of one unit and did not change in the quarter.
- `orders.csv`: one line an order, by day; each order has one product.
- `returns.csv`: an order may come back in several parts; `received` is the day on which the parcel arrived.
- Goods received after 2031-04-11 are not refunded; such a return counts as if it had never happened.
NOTES
