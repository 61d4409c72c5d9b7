"""Deploys the service that the environment describes: deploy.py plan | apply PLAN_ID | verify

All three read the ORDERS_* variables from their environment, and each needs the same ones.
"""

import hashlib
import json
import os
import sys
from pathlib import Path

NAMES = ("SERVICE", "REGION", "STAGE", "WORKERS", "FEATURES", "DB_URL", "CACHE_SECONDS", "TOKEN")
DEPLOYMENT = Path("out/deployment.json")


def settings() -> dict[str, str]:
    """The variables that a deployment depends on."""
    missing = [f"ORDERS_{name}" for name in NAMES if not os.environ.get(f"ORDERS_{name}")]
    if missing:
        sys.exit(f"not set: {', '.join(missing)}")
    return {name.lower(): os.environ[f"ORDERS_{name}"] for name in NAMES}


def digest(purpose: str, values: dict[str, str]) -> str:
    """Twelve hexadecimal digits that stand for these values."""
    return hashlib.sha256(f"{purpose} {json.dumps(values, sort_keys=True)}".encode()).hexdigest()[:12]


def plan(values: dict[str, str]) -> None:
    """Show what would be done."""
    print(f"{values['service']} in {values['region']} ({values['stage']}), {values['workers']} workers")
    for worker in range(1, int(values["workers"]) + 1):
        print(f"worker {worker:02d}: stop {values['service']}-{values['region']}-{worker:02d}, wait for requests")
        print(f"worker {worker:02d}: connect to {values['db_url']}")
        for feature in values["features"].split(","):
            print(f"worker {worker:02d}: switch on {feature}, cached for {values['cache_seconds']} seconds")
    print(f"plan id {digest('plan', values)}")


def apply(values: dict[str, str], plan_id: str) -> None:
    """Write down what was deployed, signed."""
    if plan_id != digest("plan", values):
        sys.exit("this id belongs to no plan for the present environment")
    shown = {name: value for name, value in values.items() if name != "token"}
    DEPLOYMENT.parent.mkdir(exist_ok=True)
    DEPLOYMENT.write_text(json.dumps(shown | {"signature": digest("apply", values)}, indent=1) + "\n", encoding="utf-8")
    print(f"applied; see {DEPLOYMENT}")


def verify(values: dict[str, str]) -> None:
    """Compare the deployment with the environment."""
    deployed = json.loads(DEPLOYMENT.read_text(encoding="utf-8"))
    if deployed.pop("signature") != digest("apply", values):
        sys.exit("the deployment does not match the present environment")
    print(f"verified; receipt {digest('receipt', values)}")


def main(arguments: list[str]) -> None:
    """Run one of the three commands."""
    match arguments:
        case ["plan"]:
            plan(settings())
        case ["apply", plan_id]:
            apply(settings(), plan_id)
        case ["verify"]:
            verify(settings())
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
