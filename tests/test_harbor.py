"""Task folders as Terminal-Bench and Harbor have them, written from the public description of the format: they load,
run their solution in a real container and get their reward, without any change."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness_eval.judging import Proof, judge, prove
from harness_eval.sandboxes import provider
from harness_eval.task import Task, load_suite, load_task
from tests.cli.conftest import Said, harness_eval
from tests.sandboxes.conftest import BASE_IMAGE

__all__ = ["harness_eval"]

pytestmark = pytest.mark.anyio

FIRST = """version = "1.0"

[metadata]
author_name = "Somebody"
author_email = "somebody@example.com"
difficulty = "medium"
category = "system-administration"
tags = ["shell", "install"]
expert_time_estimate_min = 5.0
junior_time_estimate_min = 20.0

[verifier]
timeout_sec = 60.0

[agent]
timeout_sec = 60.0

[environment]
build_timeout_sec = 300.0
cpus = 1
memory = "512M"
storage = "1G"
allow_internet = false
"""
NEWEST = """schema_version = "1.4"
artifacts = []
source = "https://example.com/tasks"

[task]
name = "example/greeting"
version = "2.1.0"
description = "Install a greeting."
keywords = ["shell"]
[[task.authors]]
name = "Somebody"

[metadata]
difficulty = "easy"
nested = { anything = [1, 2, { deep = true }] }

[agent]
timeout_sec = 60.0
network_mode = "no-network"

[verifier]
timeout_sec = 60.0
environment_mode = "shared"
[verifier.env]
WANTED = "${HARNESS_EVAL_TEST_WANTED:-hello}"

[environment]
build_timeout_sec = 300.0
cpus = 1
memory_mb = 512
storage_mb = 1024
gpus = 0
network_mode = "no-network"
mcp_servers = []

[environment.env]
GREETING = "hello"

[solution.env]
PLACE = "/usr/local/bin"
"""
DOCKERFILE = f"""FROM {BASE_IMAGE}
RUN mkdir -p /workspace && echo draft > /workspace/state
WORKDIR /workspace
"""
SOLVE = """#!/bin/bash
set -euo pipefail
cat > /usr/local/bin/greet <<'EOF'
#!/bin/bash
echo hello
EOF
chmod +x /usr/local/bin/greet
echo done > state
"""
TEST_SH = """#!/bin/bash
mkdir -p /logs/verifier
python3 /tests/test_outputs.py > /logs/verifier/report.txt 2>&1
if [ $? -eq 0 ]; then
  echo 1 > /logs/verifier/reward.txt
else
  echo 0 > /logs/verifier/reward.txt
fi
cat /logs/verifier/report.txt
"""
TEST_OUTPUTS = """import pathlib, subprocess, unittest


class Outputs(unittest.TestCase):
    def test_state(self):
        self.assertEqual(pathlib.Path("/workspace/state").read_text(), "done\\n")

    def test_greets(self):
        self.assertEqual(subprocess.run(["greet"], capture_output=True, text=True).stdout, "hello\\n")

    def test_data(self):
        self.assertEqual(pathlib.Path("/tests/data/expected.txt").read_text(), "hello\\n")


unittest.main()
"""
PARTS = {
    "task.toml": FIRST,
    "instruction.md": "Install a program `greet` that says hello, and note in `state` that you are done.\n",
    "environment/Dockerfile": DOCKERFILE,
    "solution/solve.sh": SOLVE,
    "tests/test.sh": TEST_SH,
    "tests/test_outputs.py": TEST_OUTPUTS,
    "tests/data/expected.txt": "hello\n",
}
Written = Callable[..., Task]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Writes a task folder with changed parts (None: without that part) and loads it."""

    def write(name: str = "greeting", **changes: str | None) -> Task:
        for relative, text in {**PARTS, **changes}.items():
            if text is not None:
                path = tmp_path / "suite" / name / relative
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        return load_task(tmp_path / "suite" / name)

    return write


async def proven(task: Task) -> Proof:
    """The proof of a task in a real container; it must be one."""
    assert task.unsupported is None
    async with provider("docker") as boxes:
        proof = await prove(task, boxes)
    assert proof.ok, proof.detail
    assert proof.untouched is not None
    assert proof.untouched.score == 0
    assert proof.solved is not None
    return proof


@pytest.mark.docker
@pytest.mark.parametrize("toml", [FIRST, NEWEST, ""], ids=["first", "newest", "empty"])
async def test_a_folder_runs_as_it_is(written: Written, toml: str) -> None:
    toml = toml or '[environment]\nnetwork_mode = "no-network"\n'
    proof = await proven(written(**{"task.toml": toml}))
    assert proof.solved is not None
    assert "OK" in proof.solved.detail


JSON_SH = """#!/bin/bash
set -e
done=$(grep -c done state || true)
printf '{ "reward": %s, "style": 0.5 }' "$done" > /logs/verifier/reward.json
echo 0 > /logs/verifier/reward.txt
exit 3
"""
NAMED_SH = """#!/bin/bash
set -euo pipefail
done=$(grep -c done state || true)
greets=$(command -v greet > /dev/null && echo 1 || echo 0)
echo "{\\"state\\": $done, \\"greets\\": $greets}" > /logs/verifier/reward.json
"""
NUMBER_SH = "#!/bin/bash\nset -e\ngrep -c done state > /logs/verifier/reward.json || true\n"
FLOAT_SH = "#!/bin/bash\nset -e\nif grep -q done state; then echo 1.0; else echo 0.0; fi > /logs/verifier/reward.txt\n"


@pytest.mark.docker
@pytest.mark.parametrize("test_sh", [JSON_SH, NAMED_SH, NUMBER_SH, FLOAT_SH], ids=["reward", "named", "number", "txt"])
async def test_every_form_of_the_reward_is_read(written: Written, test_sh: str) -> None:
    await proven(written(**{"tests/test.sh": test_sh}))


@pytest.mark.docker
async def test_named_rewards_without_one_called_reward_count_as_their_mean(written: Written) -> None:
    task = written(**{"tests/test.sh": NAMED_SH})
    async with provider("docker") as boxes, boxes.open(task.spec) as box:
        await box.run("echo done > state")
        assert (await judge(task, box, boxes)).score == 0.5


SERVER = """#!/bin/bash
cat > serve.py <<'EOF'
import http.server
class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")
http.server.HTTPServer(("127.0.0.1", 8642), Hello).serve_forever()
EOF
nohup python3 serve.py > /dev/null 2>&1 &
for _ in $(seq 50); do
  python3 -c 'import socket; socket.create_connection(("127.0.0.1", 8642))' 2> /dev/null && exit 0
  sleep 0.1
done
exit 1
"""
ASKS = """import sys, urllib.request
sys.exit(urllib.request.urlopen("http://127.0.0.1:8642/").read() != b"hello")
"""


@pytest.mark.docker
async def test_tests_may_talk_to_a_server_that_the_solution_left_running(written: Written) -> None:
    proof = await proven(written(**{"solution/solve.sh": SERVER, "tests/test_outputs.py": ASKS}))
    assert proof.live


@pytest.mark.docker
async def test_variables_arrive_where_they_belong(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_EVAL_TEST_WANTED", "good day")
    solve = '#!/bin/bash\nset -u\necho "$GREETING in $PLACE" > state\n'
    test = '[ "$(cat state)" = "hello in /usr/local/bin" ] && [ "$WANTED $GREETING" = "good day hello" ]\n'
    test += "echo $((1 - $?)) > /logs/verifier/reward.txt\n"
    await proven(written(**{"task.toml": NEWEST, "solution/solve.sh": solve, "tests/test.sh": test}))


@pytest.fixture
def image(tmp_path: Path) -> Iterator[str]:
    """A prebuilt image with a user, a working directory and a variable of its own."""
    (tmp_path / "image").mkdir()
    (tmp_path / "image" / "Dockerfile").write_text(
        f"FROM {BASE_IMAGE}\nRUN useradd --create-home worker && mkdir /data && chown worker /data\n"
        "ENV FROM_IMAGE=yes\nWORKDIR /data\nUSER worker\n"
    )
    name = "harness-eval-test-prebuilt:1"
    subprocess.run(["docker", "build", "--quiet", "--tag", name, tmp_path / "image"], check=True, capture_output=True)
    yield name
    subprocess.run(["docker", "rmi", "--force", name], check=True, capture_output=True)


WHO = """#!/bin/bash
echo "$(id -un) $PWD $FROM_IMAGE" > /tmp/who
"""
WHO_SH = """#!/bin/bash
echo "verifier $(id -un) $PWD"
cat /tmp/who
[ "$(cat /tmp/who)" = "$(cat /tests/who)" ] && [ "$(id -un)" = "$(cat /tests/verifier)" ]
echo $((1 - $?)) > /logs/verifier/reward.txt
"""


@pytest.mark.docker
@pytest.mark.parametrize(
    ("keys", "who", "verifier"),
    [
        ("", "worker /data yes", "worker"),
        ('workdir = "/srv/elsewhere"\n', "worker /srv/elsewhere yes", "worker"),
        ('[agent]\nuser = "root"\n', "root /data yes", "worker"),
        ('[verifier]\nuser = "root"\n', "worker /data yes", "root"),
        ("[agent]\nuser = 0\n[verifier]\nuser = 0\n", "root /data yes", "root"),
    ],
)
async def test_a_prebuilt_image_keeps_its_user_and_place_unless_the_task_says_otherwise(
    written: Written, image: str, keys: str, who: str, verifier: str
) -> None:
    toml = f'[environment]\ndocker_image = "{image}"\nallow_internet = false\n{keys}'
    parts = {"task.toml": toml, "environment/Dockerfile": None, "solution/solve.sh": WHO, "tests/test.sh": WHO_SH}
    await proven(written(**parts, **{"tests/who": f"{who}\n", "tests/verifier": f"{verifier}\n"}))


@pytest.mark.docker
async def test_file_names_may_be_no_text(written: Written) -> None:
    task = written(**{"environment/files/plain.txt": "", "environment/Dockerfile": f"{DOCKERFILE}COPY files/ ./\n"})
    for part in ("environment/files", "tests", "solution"):
        os.close(os.open(os.fsencode(task.folder / part) + b"/gr\xfc\xdfe", os.O_CREAT | os.O_WRONLY))
    await proven(load_task(task.folder))


@pytest.mark.docker
async def test_a_health_check_is_waited_for(written: Written) -> None:
    check = '[environment.healthcheck]\ncommand = "test $(date +%s) -ge $(stat -c %Y /proc/1)"\ninterval_sec = 0.2\n'
    await proven(written(**{"task.toml": FIRST + check}))


@pytest.mark.docker
async def test_a_task_without_a_solution_is_judged_and_cannot_be_proven(written: Written) -> None:
    task = written(**{"solution/solve.sh": None})
    async with provider("docker") as boxes, boxes.open(task.spec) as box:
        assert (await judge(task, box, boxes)).score == 0


Check = Callable[..., Said]


def found(harness_eval: Check, *arguments: object) -> tuple[int, dict[str, dict[str, object]]]:
    """The exit code of `tasks check`, and what it says of each task."""
    said = harness_eval("tasks", "check", *arguments, "--json")
    return said.code, {row["task"]: row for row in json.loads(said.out)["tasks"]}


@pytest.fixture
def suite(written: Written, tmp_path: Path) -> Path:
    """A suite of which each task is another case."""
    written("fine")
    written("unproven", **{"solution/solve.sh": None})
    written("broken", **{"solution/solve.sh": "#!/bin/bash\ntrue\n"})
    written("unbuilt", **{"environment/Dockerfile": f"FROM {BASE_IMAGE}\nRUN false\n"})
    written("composed", **{"environment/docker-compose.yaml": "services: {main: {build: .}}\n"})
    written("absent", **{"task.toml": FIRST + 'docker_image = "nosuch.invalid/image:1"\n'})
    written("unknown-base", **{"environment/Dockerfile": "FROM nosuch.invalid/image:1\nWORKDIR /app\n"})
    installs = f"FROM {BASE_IMAGE}\nRUN echo \"E: Could not resolve 'deb.example.invalid'\"; exit 100\n"
    written("installs", **{"environment/Dockerfile": installs})
    fetches = "#!/bin/bash\npython3 -c 'import urllib.request as r; r.urlopen(\"http://example.invalid/\")'\n"
    online = FIRST.replace("allow_internet = false\n", "")
    written("fetches", **{"task.toml": online, "solution/solve.sh": fetches})
    written("variable", **{"task.toml": FIRST + '[environment.env]\nA = "${HARNESS_EVAL_TEST_UNSET}"\n'})
    return tmp_path / "suite"


@pytest.mark.docker
def test_the_check_tells_a_tasks_fault_from_what_is_missing_here(suite: Path, harness_eval: Check) -> None:
    code, rows = found(harness_eval, suite, "--sandbox", "docker")
    assert code == 1
    assert {name: row["state"] for name, row in rows.items()} == {
        "fine": "ok",
        "unproven": "unproven",
        "broken": "broken",
        "unbuilt": "broken",
        "composed": "cannot-run",
        "absent": "cannot-run",
        "unknown-base": "cannot-run",
        "installs": "cannot-run",
        "fetches": "cannot-run",
        "variable": "cannot-run",
    }
    reasons = {
        "unproven": "no solution: cannot be proven",
        "broken": "score 0 after solve.sh",
        "unbuilt": "does not build",
        "composed": "docker-compose",
        "absent": "nosuch.invalid/image:1 is not here and cannot be pulled",
        "unknown-base": "asks for the network",
        "installs": "asks for the network",
        "fetches": "asks for the network",
        "variable": "HARNESS_EVAL_TEST_UNSET is not set",
    }
    assert {name: text for name, text in reasons.items() if text not in str(rows[name]["detail"])} == {}


def packed(files: dict[str, bytes]) -> bytes:
    """These files, which can be executed, as an archive."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o755
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


@pytest.mark.docker
def test_an_image_for_another_architecture_is_named_as_such(written: Written, harness_eval: Check) -> None:
    name = "harness-eval-test-foreign:1"
    layer = packed({"bin/sh": b"\x7fELF" + bytes(60)})
    layers = {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]}
    config = {"architecture": "riscv64", "os": "linux", "config": {"Env": ["PATH=/bin"]}, "rootfs": layers}
    manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    told = {"config.json": json.dumps(config).encode(), "manifest.json": json.dumps(manifest).encode()}
    image = packed({**told, "layer.tar": layer})
    subprocess.run(["docker", "load"], input=image, check=True, capture_output=True)
    task = written(**{"task.toml": FIRST + f'docker_image = "{name}"\n'})
    code, rows = found(harness_eval, task.folder, "--sandbox", "docker")
    subprocess.run(["docker", "rmi", "--force", name], check=True, capture_output=True)
    assert (code, rows["greeting"]["state"]) == (3, "cannot-run")
    assert "it is made for riscv64, the Docker engine runs" in str(rows["greeting"]["detail"])


@pytest.mark.bubblewrap
def test_a_sandbox_without_images_breaks_no_task(suite: Path, harness_eval: Check) -> None:
    code, rows = found(harness_eval, suite, "--sandbox", "bubblewrap")
    assert code == 3  # nothing is proven
    assert {row["state"] for row in rows.values()} == {"cannot-run"}
    assert "use the docker sandbox" in str(rows["fine"]["detail"])
    assert found(harness_eval, suite, "--sandbox", "bubblewrap", "--strict")[0] == 1


def test_a_whole_suite_loads_whatever_is_in_it(suite: Path) -> None:
    (suite / "first-generation").mkdir()
    (suite / "first-generation" / "task.yaml").write_text("instruction: Say hello.\n")
    (suite / "README.md").write_text("Tasks.\n")
    assert len(load_suite(suite)) == 11
