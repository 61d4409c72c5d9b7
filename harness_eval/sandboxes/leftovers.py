"""What runs have made on this machine and may have left: containers, control groups, folders; and built images."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from harness_eval.errors import SandboxFailure
from harness_eval.sandboxes import cgroup, local, owner
from harness_eval.sandboxes.docker import container, images, provider
from harness_eval.sandboxes.docker.engine import connect, engine

if TYPE_CHECKING:
    from docker import DockerClient


@dataclass(frozen=True, slots=True)
class Leftover:
    """One thing. `dead` says that nobody needs it: the run that made it is provably over. `discard` removes it with all
    that still runs in it; whether it is gone then."""

    what: str
    name: str
    dead: bool
    discard: Callable[[], bool]


@contextmanager
def found(images: bool = False) -> Iterator[tuple[list[Leftover], str | None]]:
    """All of them, and why no containers could be looked for, or None; images only where they are asked for."""
    here = [*_folders(), *_groups()]
    try:
        with engine():
            client = connect()
            client.ping()
    except SandboxFailure as failure:
        yield here, str(failure)
        return
    with closing(client), engine():
        built = _images(client) if images else []
        yield [*_containers(client), *here, *built], None


def _folders() -> list[Leftover]:
    return [
        Leftover("folder", str(root), owner.gone(token), partial(local.discard, root))
        for root, token in local.left().items()
    ]


def _groups() -> list[Leftover]:
    if (place := cgroup.parents()) is None:
        return []
    return [
        Leftover("control group", name, owner.gone(token), partial(cgroup.discard, place, name))
        for name, token in cgroup.left(place).items()
    ]


def _containers(client: DockerClient) -> list[Leftover]:
    def discard(identity: str) -> bool:
        container.remove(client.api, identity)
        return True

    return [
        Leftover("container", identity[:12], owner.gone(token), partial(discard, identity))
        for identity, token in provider.left(client).items()
    ]


def _images(client: DockerClient) -> list[Leftover]:
    """The images that were built for tasks, the youngest first, since one may stand on an older one."""
    built = client.images.list(filters={"label": f"{images.LABEL}=1"})
    built.sort(key=lambda image: str(image.attrs.get("Created")), reverse=True)
    used = {str(each.attrs["Image"]) for each in client.containers.list(all=True, ignore_removed=True)}

    def discard(names: list[str]) -> bool:
        from docker.errors import APIError, ImageNotFound  # lazy: slow import

        for name in names:
            try:
                client.images.remove(name)
            except ImageNotFound:
                continue
            except APIError:  # another image stands on it, or a container has come
                return False
        return True

    return [
        Leftover(
            "image",
            ", ".join(image.tags) or image.short_id,
            image.id not in used,
            partial(discard, image.tags or [str(image.id)]),
        )
        for image in built
    ]
