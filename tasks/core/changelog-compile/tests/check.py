"""Does the changelog hold the right entries, in the right order and form?"""


from workspace import content, digest_of

HEADING, LAST = "# Release 4.2", "7 entries"
ENTRIES = [
    "- QX-0129 sync: Device keys are renewed at each login",
    "- QX-0402 billing: Payment links expire after one hour",
    "- QX-0095 core: Exports no longer drop the last column",
    "- QX-0187 billing: Invoices of Halden partners show the tax number",
    "- QX-0268 mobile: Photos upload in the background",
    "- QX-0311 api: Lists keep their order when a page is fetched twice",
    "- QX-0344 web: The Halden banner no longer covers the search field",
]
UNTOUCHED = {
    "notes/api.list": "0822436f44c63484e3d04049788dc2be9d59fb948a6878cb81965f345129aeb7",
    "notes/billing.list": "164c0ba67615a3ec23aeb4c01acb9d9ebc6921f861914e0be3cb9e3ff1a5d5b1",
    "notes/core.list": "5e3002ae2647e024371c3d097c9b48f93ccf57d9b5501264c2632b87fc1e9929",
    "notes/mobile.list": "bfe59ff0c609b568247bbc5d89a11deb26d2003ee176efd963cecfb8ffd1f8f3",
    "notes/sync.list": "4338b4568dc55010d48f42dc828f5c295730ae47ec437aec3b7434ffbcd832bc",
    "notes/web.list": "65cccaace4f1d3ccec75b2194af981ce6961d21fbb8678af37338eded3707c28",
}


def changelog() -> list[str]:
    """The lines of the changelog, without blanks at their ends."""
    return [line.rstrip() for line in content("CHANGELOG.md").decode("utf-8-sig").rstrip().splitlines()]


def tickets() -> None:
    """Exactly the seven tickets, in any order."""
    found = sorted(line.split(":")[0] for line in changelog() if line.startswith("- "))
    assert found == sorted(entry.split(":")[0] for entry in ENTRIES), f"the tickets are {found}"


def order() -> None:
    """Security first, then by number."""
    found = [line.split()[1] for line in changelog() if line.startswith("- ")]
    assert found == [entry.split()[1] for entry in ENTRIES], f"the order is {found}"


def texts() -> None:
    """The texts with the new name and without full stops."""
    wrong = sorted({line for line in changelog() if line.startswith("- ")} ^ set(ENTRIES))
    assert not wrong, f"wrong or missing: {wrong}"


def form() -> None:
    """The whole file, line by line."""
    assert changelog() == [HEADING, "", *ENTRIES, "", LAST]


def lists() -> None:
    """The six lists, by digest."""
    for name, digest in UNTOUCHED.items():
        assert digest_of(name) == digest, name


GOALS = (tickets, order, texts, form)
KEPT = (lists,)
