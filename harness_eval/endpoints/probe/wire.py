"""What had to be put right in the replies of a probe: a run bears it, another client may not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from harness_eval.endpoints.probe.asking import Asking
from harness_eval.endpoints.probe.check import Check, LabelOf, most_common, number_of

_OF_THE_WIRE = ("serving.", "gateway.", "undetermined.")


def wire(asking: Asking, label_of: LabelOf) -> Check:
    """Whether all replies so far came as they should, and at the first attempt."""
    name, replies = "wire", number_of(asking.replies, "reply", "replies")
    mended, left = list[list[str]](), list[list[str]]()
    for reply, request in asking.heard:
        odd = [label for label in reply.oddities if not label.startswith("ok.")]
        label = label_of(reply, request) if request.tools else ""  # without tools, calls as text may be wanted
        mended += [odd] if odd else []
        left += [[label]] if label.startswith(_OF_THE_WIRE) and label not in odd else []
    told, labels = list[str](), [label for odd in (*mended, *left) for label in odd]
    if mended:
        told.append(f"put right here in {len(mended)} of {replies}: {_counted(mended)}; other clients may break")
    if left:
        told.append(f"not as it should be in {len(left)} of {replies}: {_counted(left)}")
    if asking.faults:
        attempts = number_of(len(asking.faults), "attempt failed and was", "attempts failed and were")
        told.append(f"{attempts} made again: {_counted([asking.faults])}")
    if told:
        return Check(name, "no", "; ".join(told), most_common(labels or asking.faults))
    return Check(name, "yes", f"nothing had to be put right in {replies}, and no attempt was made again")


def _counted(found: Iterable[Iterable[str]]) -> str:
    counted = Counter(label or "unlabelled" for labels in found for label in labels)
    return ", ".join(f"{label} {number}" for label, number in counted.most_common())
