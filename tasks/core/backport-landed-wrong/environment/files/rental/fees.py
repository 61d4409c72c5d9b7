"""What it costs to rent things."""

TENT = 900
BIKE = 1300
STOVE = 250
BOAT = 3200
CANOE = 2100
VAN = 8800
LATE = 450  # for each day too late


def bike_fee(days, late=0):
    """What a bike costs in cents; `late` is how many days too late it comes back."""
    if days < 1:
        raise ValueError("at least one day")
    fee = days * BIKE
    if days >= 7:
        fee -= fee // 10
    if late > 0:
        fee += late * LATE
    return fee


def stove_fee(days, late=0):
    """What a stove costs in cents; `late` is how many days too late it comes back."""
    if days < 1:
        raise ValueError("at least one day")
    fee = days * STOVE
    if days >= 7:
        fee -= fee // 10
    if late > 0:
        fee += late * LATE
    return fee


def boat_fee(days, late=0):
    """What a boat costs in cents; `late` is how many days too late it comes back."""
    if days < 1:
        raise ValueError("at least one day")
    fee = days * BOAT
    if days >= 7:
        fee -= fee // 10
    if late > 0:
        fee += late * LATE
    return fee


def van_fee(days, late=0):
    """What a van costs in cents; `late` is how many days too late it comes back."""
    if days < 1:
        raise ValueError("at least one day")
    fee = days * VAN
    if days >= 7:
        fee -= fee // 10
    if late > 0:
        fee += late * LATE
    return fee


def van_deposit(number):
    """The deposit for so many vans, in cents."""
    amount = number * VAN
    if number > 2:
        amount -= VAN // 2
    return amount


def boat_deposit(number):
    """The deposit for so many boats, in cents."""
    amount = number * BOAT
    if number > 2:
        amount -= BOAT // 2
    return amount


def tent_fee(days, late=0):
    """What a tent costs in cents; `late` is how many days too late it comes back."""
    if days < 1:
        raise ValueError("at least one day")
    fee = days * TENT
    if days >= 7:
        fee -= fee // 10
    if late > 0:
        fee += late * LATE
    return fee


def canoe_fee(days, late=0):
    """What a canoe costs in cents; `late` is how many days too late it comes back."""
    if days < 1:
        raise ValueError("at least one day")
    fee = days * CANOE
    if days >= 7:
        fee -= fee // 10
    if late > 0:
        fee += late * LATE
    return fee


def canoe_deposit(number):
    """The deposit for so many canoes, in cents."""
    amount = number * CANOE
    if number > 2:
        amount -= CANOE // 2
    return amount
