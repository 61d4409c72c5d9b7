"""The invoice as partners receive it."""

import json

from orders import pricing
from orders.lines import Order


def invoice(order: Order) -> str:
    """One JSON object; the names of its fields are a contract with partners."""
    fields = {
        "number": order.number,
        "gross_total": pricing.gross_total(order),
        "net_total": pricing.net_total(order),
        "net_total_weight": pricing.net_total_weight(order),
    }
    return json.dumps(fields, sort_keys=True)
