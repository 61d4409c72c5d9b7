"""`harness-eval view`: a run over real HTTP, for this machine only, and pages in files."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, urlencode

import anyio
import pytest

from harness_eval import recording, store
from harness_eval.cli.view_server import Server
from harness_eval.types import Action, Observation, Result, TrialKey, Verdict
from tests.cli.conftest import Said, start
from tests.report.browser import browser
from tests.report.trials import does, harness, record, run_folder, says, step

Run = Callable[..., Said]
CANONICAL = harness()
RUNS = "document.title='owned'"
HOSTILE = f'<script>{RUNS}</script><img src=x onerror="{RUNS}">\'">--></pre></style>\u202e\x1b[2J'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = {
        name: record(does("bash", "text", command=f"cat {name}"), says("Done.")) for name in ("canonical", "h1", "h10")
    }
    run_folder(tmp_path / "run", made, CANONICAL, harness("h1"), harness("h10"))
    return tmp_path / "run"


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    with Server(folder) as served:
        thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield served
        served.shutdown()
        thread.join()


def ask(server: Server, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    said = answer.read().decode()
    connection.close()
    return answer.status, dict(answer.headers), said


def trial(name: str) -> str:
    return f"/trial?{urlencode({'name': name})}"


def test_the_list_can_be_filtered_and_leads_to_every_trial(server: Server) -> None:
    status, _, said = ask(server, "/")
    assert status == 200
    assert "3 trials" in said
    links = re.findall(r'href="(/trial[^"]+)"', said)
    assert len(links) == 3
    assert all(ask(server, link)[0] == 200 for link in links)
    assert "1 trial: 0 solved, 1 not, 0 lost" in ask(server, "/?harness=h1&outcome=unsolved")[2]
    assert "2 trials: 0 solved, 2 not, 0 lost" in ask(server, "/?label=model.wrong_answer&order=tokens&down=1")[2]
    assert "No trial fits" in ask(server, "/?task=nothing")[2]
    assert ask(server, "/?page=999999999999&order=x&outcome=y&down=%00")[0] == 200


def test_a_trial_leads_to_the_canonical_one_beside_it(server: Server) -> None:
    said = ask(server, trial("fix/h10/ref/0"))[2]
    link = re.search(r'href="(/pair[^"#]+)#divergence"', said)
    assert link is not None
    status, _, pair = ask(server, link[1].replace("&amp;", "&"))
    assert status == 200
    assert "They go different ways at step 1: canonical reads canonical, h10 reads h10." in pair
    assert "Beside canonical" not in ask(server, trial("fix/canonical/ref/0"))[2]


def test_a_list_of_many_has_pages(folder: Path, server: Server) -> None:
    with store.open_run(folder, store.read_study(folder)) as run:
        for number in range(250):
            run.append(Result(TrialKey("more", "h1", "ref", number), "id", Verdict(0.0)))
    said = ask(server, "/?task=more&page=3")[2]
    assert "page 3 of 3" in said
    assert said.count('href="/trial') == 50
    assert 'href="/?task=more&amp;page=2"' in said


def test_what_ends_meanwhile_is_there_after_a_reload(folder: Path, server: Server) -> None:
    assert ask(server, trial("late/h1/ref/0"))[0] == 404
    assert "of 99 planned" in ask(server, "/")[2]
    with store.open_run(folder, store.read_study(folder)) as run:
        run.append(Result(TrialKey("late", "h1", "ref"), "id", Verdict(1.0), trajectory=record(says("x"))))
    assert ask(server, trial("late/h1/ref/0"))[0] == 200
    assert "4 trials" in ask(server, "/")[2]


def test_only_this_machine_by_its_own_name_is_answered(server: Server) -> None:
    port = server.server_port
    assert server.server_address[0] == "127.0.0.1"
    assert ask(server, "/", Host=f"localhost:{port}")[0] == 200
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1",
        f"127.0.0.1:{port + 1}",
        "",
        f"127.0.0.1:{port}.evil",
    ):
        status, _, said = ask(server, "/", Host=host)
        assert status == 403
        assert said == f"this server answers to http://127.0.0.1:{port} only\n"
    assert ask(server, f"http://evil.example:{port}/", Host=f"127.0.0.1:{port}")[0] == 400


def test_many_readers_at_once_are_all_answered_while_others_say_nothing(server: Server) -> None:
    silent = [socket.create_connection(("127.0.0.1", server.server_port), timeout=30) for _ in range(40)]
    for line in silent[:20]:
        line.sendall(b"GET / HT")
    with ThreadPoolExecutor(40) as readers:
        answers = list(readers.map(lambda _: ask(server, trial("fix/h1/ref/0")), range(80)))
    assert {status for status, _, _ in answers} == {200}
    for line in silent:
        line.close()


def test_two_host_headers_or_none_are_refused(server: Server) -> None:
    own = f"Host: 127.0.0.1:{server.server_port}\r\n"
    for headers in ("", own + "Host: evil.example\r\n"):
        with socket.create_connection(("127.0.0.1", server.server_port), timeout=30) as line:
            line.sendall(f"GET / HTTP/1.1\r\n{headers}\r\n".encode())
            assert b" 403 " in line.recv(65_536)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_but_reading_is_allowed(server: Server, method: str) -> None:
    status, headers, _ = ask(server, "/", method)
    assert status == 405
    assert headers["Allow"] == "GET, HEAD"


def test_every_answer_forbids_scripts_and_guessing(server: Server) -> None:
    for path in ("/", trial("fix/h1/ref/0"), "/style.css", "/nowhere", trial("no")):
        _, headers, said = ask(server, path)
        assert "default-src 'none'; style-src 'self';" in headers["Content-Security-Policy"]
        assert "script-src" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in headers
        assert "<script" not in said


def test_head_says_the_same_without_the_page(server: Server) -> None:
    status, headers, said = ask(server, "/", "HEAD")
    assert (status, said) == (200, "")
    assert int(headers["Content-Length"]) == len(ask(server, "/")[2].encode())


@pytest.mark.parametrize(
    "path",
    [
        *("/../study.json", "/study.json", "/trajectories/", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd"),
        *("/report/../study.json", "/trial?name=../../study.json", "/trial?name=%ff%00", "/trial"),
        *("/pair?left=fix/h1/ref/0", "/pair?left=a&right=b"),
    ],
)
def test_no_path_leads_out_of_what_is_shown(server: Server, path: str) -> None:
    status, _, said = ask(server, path)
    assert status == 404
    assert "harnesses" not in said
    assert "root:" not in said


def test_too_many_fields_are_refused(server: Server) -> None:
    assert ask(server, "/?" + "&".join(f"a{n}=1" for n in range(50)))[0] == 400
    assert ask(server, "/?" + "a" * 70_000)[0] == 414


def test_the_report_is_served_where_there_is_one(folder: Path, server: Server) -> None:
    assert ask(server, "/report")[0] == 404
    (folder / "report.html").write_text("<!doctype html><title>r</title><p>the report</p>")
    status, headers, said = ask(server, "/report")
    assert status == 200
    assert "the report" in said
    assert "default-src 'none'" in headers["Content-Security-Policy"]


def test_a_damaged_record_is_a_page_that_says_so(folder: Path, server: Server) -> None:
    (folder / store.TRAJECTORIES / recording.file_name(TrialKey("fix", "h1", "ref"))).write_bytes(b"torn")
    status, _, said = ask(server, trial("fix/h1/ref/0"))
    assert status == 200
    assert "is damaged" in said
    assert "Traceback" not in said


def test_a_run_whose_files_are_gone_is_an_empty_list(folder: Path, server: Server) -> None:
    (folder / "results.jsonl").unlink()
    (folder / "study.json").write_text("{")
    assert "No trial has ended yet" in ask(server, "/")[2]


def test_a_page_can_be_written_into_a_file_of_its_own(harness_eval: Run, folder: Path, tmp_path: Path) -> None:
    said = harness_eval("view", folder, "fix/h10", "canonical", "--out", tmp_path / "pair.html", "--json")
    assert said.code == 0
    assert json.loads(said.out)["trials"] == ["fix/h10/ref/0", "fix/canonical/ref/0"]
    page = (tmp_path / "pair.html").read_text()
    assert "First divergence" in page
    assert "default-src 'none'" in page
    assert not re.search(r'(href|src)="(?!#)', page)
    assert harness_eval("view", folder, "fix/h10", "--out", tmp_path / "one.html").out.strip().endswith("one.html")


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--out", "x.html"], "--out writes the page of one trial"),
        (["fix/h1", "--out", "nowhere/x.html"], "--out nowhere/x.html: cannot be written: No such file"),
        (["fix/nobody"], "no harness 'nobody' of task 'fix' in this run; choices: canonical, h1, h10"),
        (["fix/canonical", "canonical"], "fix/canonical/ref/0 is itself under 'canonical'; another can"),
        (["fix/h1", "nobody"], "no trial of fix under 'nobody'; choices: canonical, h10"),
    ],
)
def test_what_is_not_clear_is_one_line(harness_eval: Run, folder: Path, arguments: list[str], hint: str) -> None:
    said = harness_eval("view", folder, *arguments, "--no-browser")
    assert said.code == 2
    assert said.err.startswith("error: ")
    assert hint in said.err


@pytest.mark.parametrize("name", ["results.jsonl", "study.json", "report.html"])
def test_a_page_is_not_written_over_the_record_of_its_run(harness_eval: Run, folder: Path, name: str) -> None:
    before = (folder / "results.jsonl").read_bytes()
    said = harness_eval("view", folder, "fix/h1", "--out", folder / name)
    assert said.code == 2
    assert "is part of the run's own record" in said.err
    assert (folder / "results.jsonl").read_bytes() == before


def test_a_name_that_no_address_can_hold_is_listed_all_the_same(folder: Path, server: Server) -> None:
    with store.open_run(folder, store.read_study(folder)) as run:
        run.append(Result(TrialKey("\ud800<b>%2F", "h1", "ref"), "id", Verdict(0.0)))
    status, _, said = ask(server, "/?order=task")
    assert status == 200
    assert "4 trials" in said
    assert "<b>" not in said


def test_a_port_that_is_taken_is_one_line(harness_eval: Run, folder: Path, server: Server) -> None:
    said = harness_eval("view", folder, "--no-browser", "--port", server.server_port)
    assert said.code == 2
    assert f"--port {server.server_port}: " in said.err


def test_several_repeats_open_as_a_list(folder: Path) -> None:
    with store.open_run(folder, store.read_study(folder)) as run:
        run.append(Result(TrialKey("fix", "h1", "ref", 1), "id", Verdict(0.0)))
    with start("view", folder, "fix/h1", "--no-browser") as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip().endswith("/?task=fix&harness=h1")
        process.send_signal(signal.SIGTERM)


def test_it_prints_its_address_and_ends_cleanly(folder: Path) -> None:
    with start("view", folder, "fix/h1", "--no-browser", "--json") as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        told = json.loads("".join(line for line in _until_closed(lines)))
        address = told["address"]
        assert address.endswith(f"/trial?name={quote('fix/h1/ref/0', safe='')}")
        port = int(address.split(":")[2].split("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        connection.close()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "ended"


def _until_closed(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if line.rstrip() == "}":
            return


@pytest.mark.chromium
def test_nothing_that_a_model_wrote_runs_in_a_browser(tmp_path: Path, harness_eval: Run) -> None:
    action = Action(HOSTILE, HOSTILE, does("bash", command=HOSTILE).action.calls)
    seen = Observation(HOSTILE * 200, 99_999)
    made = {
        name: record(step(action, seen, finish_reason=HOSTILE, labels=(HOSTILE,)), says(HOSTILE))
        for name in ("canonical", "h")
    }
    run_folder(tmp_path / "run", made, CANONICAL, harness("h"))
    assert harness_eval("view", tmp_path / "run", "fix/canonical", "fix/h", "--out", tmp_path / "page.html").code == 0
    page = (tmp_path / "page.html").read_text()
    (tmp_path / "page.html").write_text(re.sub(r"<meta http-equiv.*?>", "", page))  # escaping alone has to hold

    async def look() -> None:
        async with browser(tmp_path / "profile") as tab:
            await tab.open(tmp_path / "page.html", 390)
            assert await tab.run("document.title") == "fix: canonical and h · made"
            assert await tab.run("document.querySelectorAll('script, img, iframe, form').length") == 0
            assert await tab.run("document.querySelectorAll('.t-row').length") > 0
            assert await tab.run("document.documentElement.scrollWidth") <= 390
            assert tab.complaints == []

    anyio.run(look)
