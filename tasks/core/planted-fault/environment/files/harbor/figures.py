"""Small functions of harbor, each on its own."""


def share_in_percent(part, whole):
    """`part` of `whole` in whole percent, halves rounded up; 0 where `whole` is 0. Both are whole and not negative."""
    return (200 * part + whole) // (2 * whole) if whole else 0


def merge_spans(spans):
    """The spans [start, end], those that overlap or touch made one, in order of their starts."""
    merged = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def check_digit(digits):
    """The digit that makes the weighted sum a multiple of 10; weights are 7 and 1 in turn, from the right."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        total += int(digit) * (7 if place % 2 == 0 else 1)
    return -total % 10


def fee(cents):
    """52 cents, and 20 for each full 370 cents above 1800."""
    return 52 + max(0, cents - 1800) // 370 * 20


def day_of_year(year, month, day):
    """The number of a day within its year, 1 January being 1, in the Gregorian calendar."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return sum(lengths[: month - 1]) + day


def median(values):
    """The middle one of the values; of an even number of values the smaller one of both in the middle."""
    return sorted(values)[(len(values) - 1) // 2]


def wrap(words, width):
    """The words filled into lines of at most `width` characters; a longer word has a line of its own."""
    lines = []
    for word in words:
        if lines and len(lines[-1]) + 1 + len(word) < width:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


def gaps(numbers):
    """The whole numbers that are missing between the smallest and the largest of the numbers, ascending."""
    return [n for n in range(min(numbers), max(numbers)) if n not in numbers] if numbers else []


def rotated(items, steps):
    """The items, each moved `steps` places to the right, those that fall off coming in at the left."""
    if not items:
        return []
    cut = -steps % len(items)
    return items[cut:] + items[:cut]
