"""What shipping costs. Free from a gross value of 100.00 on."""

from orders.lines import Order
from orders.pricing import gross_total, net_total_weight


def postage(order: Order) -> int:
    """Cents for one parcel: 4.90 up to 2 kg, then 0.80 for each further kg begun."""
    if gross_total(order) >= 10_000:
        return 0
    further = max(0, net_total_weight(order) - 2000)
    return 490 + 80 * ((further + 999) // 1000)
