"""Orders, what they cost and how they leave the house."""

from orders.lines import Line, Order
from orders.pricing import net_total, net_total_weight, subnet_total

__all__ = ["Line", "Order", "net_total", "net_total_weight", "subnet_total"]
