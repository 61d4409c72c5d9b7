"""Does the one wrong weight now say what the supplier says, and does everything else stay?"""

import hashlib
import json
from typing import Any

from workspace import content, digest_of

WRONG = 103
UNTOUCHED = {
    "validate.py": "5ce30220f452e243ada7af6b28f8abb1ca7ad31345256a7ef8c0713fe96b763e",
    "suppliers/alvor.csv": "884580855957ff0cce893392906099ada8962b188182b17f4eaef0dbb77da6ed",
    "suppliers/benmark.csv": "7df722f03a544198098bffcfa604ed077a6ecb717bee64c3731013f1e356d9e1",
    "suppliers/corvida.csv": "742d5b0b7855c2ff3716ae2fdee1467adafe92a5d3d87449dfa88dc1f6641141",
    "suppliers/nordal.csv": "5fb8f6471ca71527656e07abaa02ead8aca0cafab5621b3ea2ab3e2319e689a0",
    "suppliers/ostara.csv": "7dcbb915851fe94d74891a2e3e87da0dfeb4bac1a226c4886ec907cc4e94a371",
}
OTHER_VALUES = "aa62f85a90fe07d225beffa520862ff47e06bd919f55850f6717d6e5b6358895"


def catalog() -> dict[str, Any]:
    """The catalog as it is now."""
    return json.loads(content("catalog.json").decode("utf-8-sig"))


def weight() -> None:
    """The latest row of the sheet counts, as an integer."""
    found = json.dumps(catalog()["products"][WRONG]["weight_g"])
    assert found == "1205", f"the weight is {found}"


def other_values() -> None:
    """The catalog without the corrected weight, compared by digest."""
    values = catalog()
    del values["products"][WRONG]["weight_g"]
    assert hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest() == OTHER_VALUES


def other_files() -> None:
    """The check and the sheets."""
    for name, digest in UNTOUCHED.items():
        assert digest_of(name) == digest, name


GOALS = (weight,)
KEPT = (other_values, other_files)
