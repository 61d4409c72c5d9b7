"""Commands of another user than the one who serves them, so that they cannot end who serves them."""

from __future__ import annotations

import os
from _signal import SIG_DFL, SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGXFSZ, signal  # type: ignore[import-not-found]
from errno import ENOENT

IGNORED = (SIGHUP, SIGINT, SIGTERM)  # a command may send them to everything it sees
DEFAULTED = (*IGNORED, SIGPIPE, SIGXFSZ)  # ignored here, and what is ignored would be inherited


def start_as_user(words: list[bytes], variables: dict[bytes, bytes], writer: int) -> int:
    """Start a command as whom we act for, in a session of its own; the process id."""
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        for number in DEFAULTED:
            signal(number, SIG_DFL)
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        group, user = os.getegid(), os.geteuid()
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
        become(words, variables)
    except OSError as error:
        os.write(2, b"bash: %s\n" % str(error.strerror).encode())
    finally:
        os._exit(126)


def become(words: list[bytes], variables: dict[bytes, bytes]) -> None:
    """Run a program that is found as `posix_spawnp` finds it; `os.execvpe` would load a slow module each time."""
    for folder in os.environb.get(b"PATH", b"/usr/bin:/bin").split(b":"):
        try:
            os.execve(folder + b"/" + words[0], words, variables)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
    raise FileNotFoundError(ENOENT, "No such file or directory")


def act_for(account: str) -> None:
    """Have the rights of a user, `NAME_OR_ID[:GROUP]`, over files and processes, and stay root's process, which none of
    the user's can end. A user or group without a name is taken as its number."""
    import grp  # lazy: needed for few boxes
    import pwd  # lazy: needed for few boxes

    name, _, group = account.partition(":")
    try:
        entry = pwd.getpwuid(int(name)) if name.isdigit() else pwd.getpwnam(name)
        user, own, home = entry.pw_uid, entry.pw_gid, entry.pw_dir
        groups = [own] if group else os.getgrouplist(entry.pw_name, own)
    except KeyError:
        user, own, home, groups = int(name), 0, "/", [0]
    if group:
        own = int(group) if group.isdigit() else grp.getgrnam(group).gr_gid
        groups = [own]
    if os.environ.get("HOME") == pwd.getpwuid(0).pw_dir:
        os.environ["HOME"] = home
    os.setgroups(groups)
    os.setegid(own)
    os.seteuid(user)
