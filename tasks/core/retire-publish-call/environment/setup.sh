#!/bin/bash
# Writes 25 modules that use the bus in ten ways: always the same bytes.
set -euo pipefail
python3 -I - <<'PYTHON'
NAMES = "attic barn cellar dock fence garage garden gate hall kitchen lab mill office pier pond porch pump roof shed silo stable stair store studio well".split()
FORMS = [
    ("from station import bus", '    bus.publish("{n}/temperature", value)\n    return value\n'),
    ("from station import bus", '    warm = value > 20\n    bus.publish("{n}/warm", warm, True)\n    return warm\n'),
    ("from station import bus", '    bus.publish(topic="{n}/level", payload=round(value, 1))\n    return None\n'),
    ("from station.bus import publish", '    publish("{n}/flow", {{"litres": value, "open": True}}, retain=value > 50)\n    return value * 2\n'),
    ("from station.bus import publish as send", '    send("{n}/low", min(value, 10))\n    send("{n}/high", max(value, 10), True)\n    return 2\n'),
    ("from station import bus", '    bus.publish(\n        "{n}/alarm",\n        ", ".join(str(part) for part in (value, value + 1)),\n        retain=False,\n    )\n    return "sent"\n'),
    ("from station import bus", '    parts = [value, -value, value / 4]\n    return [bus.publish(f"{n}/part/{{at}}", part) for at, part in enumerate(parts)]\n'),
    ("from station import bus\nfrom station.looping import each", '    each([("{n}/first", value), ("{n}/second", [value])], bus.publish)\n    return value\n'),
    ("from station import bus", '    number = bus.publish("{n}/count", int(value), retain=True)\n    return f"{n} {{number}}"\n'),
    ("import station.bus as wire", '    if value < 0:\n        return wire.publish("{n}/frost", value, True)\n    wire.publish("{n}/fine", payload=value)\n    return 0\n'),
]
for at, name in enumerate(NAMES):
    imports, body = FORMS[at * 7 % 10]
    text = f'"""The {name}: one of the places where the station measures."""\n\n{imports}\n\n\ndef report(value):\n    """Send what was measured."""\n'
    open(f"station/{name}.py", "w", encoding="utf-8").write(text + body.format(n=name))
PYTHON
