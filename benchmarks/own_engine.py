"""A Docker engine of a benchmark's own, on its own socket and in its own folders, that can be killed."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_START_SECONDS = 60.0


class OwnEngine:
    """Needs root and `dockerd`; containers get no network but what `none` is."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.host = f"unix://{place}/docker.sock"
        self._process: subprocess.Popen[bytes] | None = None
        self._below: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait for nothing."""
        place = self.place
        below = f"{place}/containerd.sock"
        if self._below is None:  # what containers are started by; it outlives the engine
            (place / "containerd.toml").write_text('version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n')
            folders = ["--root", f"{place}/below", "--state", f"{place}/state"]
            self._below = self._run("containerd", "--config", f"{place}/containerd.toml", "--address", below, *folders)
        folders = [f"--data-root={place}/data", f"--exec-root={place}/exec", f"--pidfile={place}/pid"]
        network = ["--bridge=none", "--iptables=false", "--ip6tables=false"]
        # In a network of its own: an engine without a bridge removes the one that it finds, which is another's.
        self._process = self._run(
            "unshare", "--net", "dockerd", "--host", self.host, "--containerd", below, *folders, *network
        )

    def wait(self) -> None:
        """Until it answers.

        Raises:
            RuntimeError: it does not.
        """
        end = time.monotonic() + _START_SECONDS
        while subprocess.run(self._command("info"), capture_output=True, check=False).returncode:
            if time.monotonic() > end:
                raise RuntimeError(f"the engine did not start: {(self.place / 'log').read_text()[-500:]}")
            time.sleep(0.2)

    def load(self, image: str) -> None:
        """Take an image over from the usual engine."""
        with subprocess.Popen(["docker", "save", image], stdout=subprocess.PIPE) as saved:
            subprocess.run(self._command("load"), stdin=saved.stdout, capture_output=True, check=True)

    def kill(self) -> None:
        """End it as a crash would; what it has started goes on without it."""
        assert self._process is not None, "it has been started"
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End it with all its containers."""
        if self._process is None:
            return
        listed = subprocess.run(self._command("ps", "-aq"), capture_output=True, text=True, check=False).stdout.split()
        if listed:
            subprocess.run(self._command("rm", "-f", *listed), capture_output=True, check=False)
        for process in filter(None, (self._process, self._below)):
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=30)
            process.kill()
        mounted = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
        for place in reversed([each for each in mounted if each.startswith(f"{self.place}/")]):
            subprocess.run(["umount", "--lazy", place], capture_output=True, check=False)

    def _run(self, *words: str) -> subprocess.Popen[bytes]:
        with (self.place / "log").open("ab") as log:
            return subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)

    def _command(self, *words: str) -> list[str]:
        return ["docker", "--host", self.host, *words]


@contextmanager
def own_engine(image: str) -> Iterator[OwnEngine]:
    """An engine that has this image; `DOCKER_HOST` names it for this process and those that it starts."""
    before = os.environ.get("DOCKER_HOST")
    with tempfile.TemporaryDirectory(prefix="engine-", ignore_cleanup_errors=True) as place:
        engine = OwnEngine(Path(place))
        engine.start()
        try:
            engine.wait()
            engine.load(image)
            os.environ["DOCKER_HOST"] = engine.host
            yield engine
        finally:
            os.environ.pop("DOCKER_HOST", None)
            if before is not None:
                os.environ["DOCKER_HOST"] = before
            engine.close()
