"""Is the lost commit's change on main, as one commit on top of what was there?"""


from repository import Repository
from workspace import text

REPOSITORY = "ledger"
LOST = "69f72c7a02b9681009a52ff6ec7e803421c0abe3"
TIP = "ced891008196da43317bdf9e8b7a8b286a10accd"
TREE = "9e11d0eaff1bbefe18f8b95d5961385c57943309"  # of TIP with the change of LOST
DRAFTS = "1c698bb53b0bebe2f1c3fff39b7fbde58404c6c9"
FOUND = Repository(REPOSITORY)
git, files, staged, working_files = FOUND.git, FOUND.files, FOUND.staged, FOUND.working_files


def recovered() -> None:
    """The file names the lost commit in full."""
    found = text("recovered.txt").strip().lower()
    assert found == LOST, f"recovered.txt says {found[:60]!r}"


def one_commit_on_top() -> None:
    """The tree is that of the old tip with the lost change, and the only parent is the old tip."""
    tree, parents = git("log", "-n", "1", "--format=%T|%P", "refs/heads/main").split("|")
    assert tree == TREE, f"the tree of main is {tree}"
    assert parents == TIP, f"the parents of main are {parents}"


def author_and_subject() -> None:
    """Both are those of the lost commit."""
    found = git("log", "-n", "1", "--format=%an|%ae|%s", "refs/heads/main")
    assert found == "Mara Lindqvist|mara@ledger.example|Round invoice totals half to even", found


def clean() -> None:
    """A new tip of main is checked out and nothing is left uncommitted."""
    assert git("rev-parse", "refs/heads/main") != TIP, "main has not moved"
    assert git("symbolic-ref", "HEAD") == "refs/heads/main"
    tree = files("refs/heads/main")
    assert staged() == tree, "something is staged"
    assert working_files() == tree, "something is left uncommitted"


def history() -> None:
    """What main had is still in it, and the drafts have not moved."""
    assert git("merge-base", TIP, "refs/heads/main") == TIP
    assert git("rev-parse", "refs/heads/mara/rounding") == DRAFTS


GOALS = (recovered, one_commit_on_top, author_and_subject, clean)
KEPT = (history,)
