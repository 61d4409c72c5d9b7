"""Prices of orders. Half cents are rounded away from zero."""

from orders.lines import Order


def gross_total(order: Order) -> int:
    """The sum of all lines before rebate."""
    return sum(line.pieces * line.cents for line in order.lines)


def net_total(order: Order) -> int:
    """What is still to be paid: the gross total less rebate and advance payments, never below zero."""
    rebate = (gross_total(order) * order.rebate + 50) // 100
    return max(0, gross_total(order) - rebate - order.paid)


def net_total_weight(order: Order) -> int:
    """The weight of all pieces without packaging."""
    return sum(line.pieces * line.grams for line in order.lines)


def subnet_total(order: Order, zone: str) -> int:
    """The gross sum of the lines of one delivery zone; unlike net_total it knows no rebate."""
    return sum(line.pieces * line.cents for line in order.lines if line.zone == zone)
