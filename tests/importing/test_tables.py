"""What tables may say, what is refused with its place, and that a table becomes a run like any other."""

from __future__ import annotations

import csv
import json
import os
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas
import pytest
from typer.testing import CliRunner

import harness_eval
from harness_eval import report, store
from harness_eval.cli import import_ as command
from harness_eval.cli import show
from harness_eval.errors import ConfigError
from harness_eval.importing import Wishes, import_run

HEAD = "model,harness,task,successes,trials\n"
ROWS = "m,a,one,2,3\nm,a,two,0,3\nm,b,one,3,3\nm,b,two,1,3\n"
Written = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def write(text: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return list(store.rows(folder))


def imported(path: Path, **wishes: Any) -> Path:
    folder = path.parent / "run"
    import_run([path], folder, Wishes(**wishes))
    return folder


def scores(folder: Path) -> dict[tuple[str, str], list[float | None]]:
    found: dict[tuple[str, str], list[float | None]] = defaultdict(list)
    for row in rows_of(folder):
        found[row["harness"], row["task"]].append(row["score"])
    return dict(found)


EXPECTED = {
    ("a", "one"): [0.0, 1.0, 1.0],
    ("a", "two"): [0.0, 0.0, 0.0],
    ("b", "one"): [1.0, 1.0, 1.0],
    ("b", "two"): [0.0, 0.0, 1.0],
}


def test_counts_become_trials(written: Written) -> None:
    assert {
        cell: sorted(found, key=float) for cell, found in scores(imported(written(HEAD + ROWS))).items()
    } == EXPECTED


def _in_another_format(records: Sequence[Mapping[str, Any]], suffix: str, folder: Path) -> Path:
    path, frame = folder / f"table{suffix}", pandas.DataFrame(records)
    if suffix == ".tsv":
        frame.to_csv(path, sep="\t", index=False)
    elif suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif suffix == ".json":
        frame.to_json(path, orient="records")
    else:
        frame.to_parquet(path)
    return path


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl", ".json", ".parquet"])
def test_every_format_says_the_same(suffix: str, tmp_path: Path) -> None:
    records = [
        dict(zip(HEAD.strip().split(","), [*line.split(",")[:3], *map(int, line.split(",")[3:])], strict=True))
        for line in ROWS.split()
    ]
    found = scores(imported(_in_another_format(records, suffix, tmp_path)))
    assert {cell: sorted(each, key=float) for cell, each in found.items()} == EXPECTED


@pytest.mark.parametrize("missing", [None, float("nan"), ["a"], {"a": 1}], ids=repr)
def test_what_is_missing_or_a_structure_is_no_name(missing: Any, tmp_path: Path) -> None:
    row = {"model": "m", "harness": "a", "task": "one", "successes": 1, "trials": 2}
    path = tmp_path / "table.json"
    path.write_text(json.dumps([row, row | {"harness": missing}]))
    with pytest.raises(ConfigError, match=r"record 2: harness: (is empty; a name is needed|.* is no name)"):
        imported(path)


def test_a_name_that_parquet_does_not_know_is_missing(tmp_path: Path) -> None:
    row = {"model": "m", "harness": "a", "task": "one", "successes": 1, "trials": 2}
    pandas.DataFrame([row, row | {"harness": None}]).to_parquet(tmp_path / "table.parquet")
    with pytest.raises(ConfigError, match=r"row 2: harness: is empty; a name is needed"):
        imported(tmp_path / "table.parquet")


def test_a_row_may_be_one_trial_and_its_repeats_are_numbered(written: Written) -> None:
    text = "model,harness,task,solved\n" + "m,a,one,true\nm,a,one,false\nm,a,two,1\n"
    rows = rows_of(imported(written(text)))
    assert [(row["task"], row["repeat"]) for row in rows] == [("one", 0), ("one", 1), ("two", 0)]
    assert sorted(row["solved"] for row in rows) == [False, True, True]


def test_scores_between_nothing_and_all_are_kept(written: Written) -> None:
    folder = imported(written("model,harness,task,repeat,score\nm,a,one,1,0.25\nm,a,one,2,1.0\n"))
    assert [(row["score"], row["solved"]) for row in rows_of(folder)] == [(0.25, False), (1.0, True)]


def test_lost_trials_are_missing_with_their_owner(written: Written) -> None:
    text = "model,harness,task,successes,trials,lost,owner,lost:endpoint\nm,a,one,1,5,1,task,2\nm,a,two,1,1,,,\n"
    folder = imported(written(text))
    owners = sorted(row["failure"]["owner"] for row in rows_of(folder) if row["failure"])
    assert owners == ["endpoint", "endpoint", "task"]
    assert report.write(folder)["trials"] == {"planned": 6, "judged": 3, "lost": 3, "unsupported": 0, "owed": 0}


def test_what_a_row_used_is_divided_over_its_trials(written: Written) -> None:
    text = "model,harness,task,successes,trials,cost,tokens,seconds\nm,a,one,1,2,3.0,101,9\n"
    rows = rows_of(imported(written(text)))
    assert [row["usage"]["prompt"] for row in rows] in ([50, 51], [51, 50])
    assert [(row["cost"], row["seconds"]) for row in rows] == [(1.5, 4.5), (1.5, 4.5)]


def test_columns_may_be_called_otherwise(written: Written) -> None:
    folder = imported(
        written("Model,agent,problem,n_pass,trials\nm,a,one,1,1\n"),
        columns={"harness": "agent", "task": "problem", "successes": "n_pass"},
    )
    assert scores(folder) == {("a", "one"): [1.0]}


def test_a_column_that_is_missing_may_be_given_for_all_rows(written: Written) -> None:
    folder = imported(written("task,successes,trials\none,1,1\n"), model="m", harness="a")
    assert [(row["endpoint"], row["harness"]) for row in rows_of(folder)] == [("m", "a")]


def test_the_mark_of_the_byte_order_and_empty_lines_do_no_harm(written: Written) -> None:
    assert scores(imported(written("\ufeff" + HEAD + "\n" + ROWS + "\n"))).keys() == EXPECTED.keys()


WRONG = {
    "more successes than trials": (HEAD + "m,a,one,4,3\n", "table.csv: line 2: successes: 4 successes of 3 trials"),
    "a fraction": (HEAD + "m,a,one,0.4,5\n", "table.csv: line 2: successes: '0.4' is a fraction"),
    "negative": (HEAD + ROWS + "m,a,three,-1,5\n", "table.csv: line 6: successes: '-1' is negative"),
    "a percentage": (HEAD + "m,a,one,40 %,5\n", "table.csv: line 2: successes: '40 %' is a percentage"),
    "not a number": (HEAD + "m,a,one,many,5\n", "table.csv: line 2: successes: 'many' is no number"),
    "an empty count": (HEAD + "m,a,one,,5\n", "table.csv: line 2: successes: is empty"),
    "an empty name": (HEAD + "m,,one,1,5\n", "table.csv: line 2: harness: is empty"),
    "twice": (HEAD + ROWS + "m,a,one,1,3\n", "table.csv: line 6: m, a, one stands twice, first at line 2"),
    "too many": (HEAD + "m,a,one,1,1e9\n", "table.csv: line 2: trials: 1,000,000,000 trials; one row has at most"),
    "semicolons": (HEAD.replace(",", ";") + "m;a;one;1;2\n", "table.csv: line 1: its columns are separated by semi"),
    "too few values": (HEAD + "m,a,one,1\n", "table.csv: line 2: has 4 values for 5 columns"),
    "nothing": ("", "table.csv: is empty"),
    "no rows": (HEAD, "table.csv: has no rows"),
    "not UTF-8": (HEAD.encode() + b"m,\xff,one,1,1\n", "is not a text file in UTF-8"),
    "UTF-16": ((HEAD + ROWS).encode("utf-16"), "table.csv: is text in UTF-16; save it as UTF-8"),
    "UTF-16 without its mark": ((HEAD + ROWS).encode("utf-16-le"), "table.csv: holds zero bytes, so it is no text in"),
    "too much": (HEAD.replace("trials", "trials,tokens") + "m,a,one,1,2,1e308\n", "'1e308' is too large"),
    "an axis without a name": (HEAD.replace("trials", "trials,axis:") + "m,a,one,1,2,x\n", "the name of the axis: is"),
    "a column misspelt": (HEAD.replace("successes", "sucesses") + ROWS, "did you mean 'sucesses'?"),
    "a column twice": ("model,model,harness,task,successes,trials\n" + ROWS, "column 'model' stands twice"),
    "no verdict": ("model,harness,task,solved\nm,a,one,\n", "line 2: solved: is empty; a trial without a verdict"),
    "no truth": ("model,harness,task,solved\nm,a,one,maybe\n", "line 2: solved: 'maybe' is neither true nor false"),
    "a score above 1": ("model,harness,task,score\nm,a,one,37\n", "line 2: score: '37' is above 1"),
    "an unknown owner": (
        HEAD.replace("trials", "trials,lost,owner") + "m,a,one,1,2,1,sandbx\n",
        "line 2: owner: 'sandbx' is no owner; did you mean 'sandbox'?",
    ),
    "two levels": (
        HEAD.replace("trials", "trials,axis:tools") + "m,a,one,1,2,x\nm,a,two,1,2,y\n",
        "axis:tools: harness 'a' has both 'x' and 'y'",
    ),
    "two groups": (
        HEAD.replace("trials", "trials,group") + "m,a,one,1,2,x\nm,b,one,1,2,y\n",
        "group: task 'one' is in both 'x' and 'y'",
    ),
    "a long cell": (HEAD + f"m,{'a' * 10_000_000},one,1,2\n", "table.csv: line 2: is not to be read"),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named_with_its_place_on_one_line(text: str | bytes, message: str, written: Written) -> None:
    with pytest.raises(ConfigError) as caught:
        imported(written(text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (written("").parent / "run").exists()


def test_rates_without_tasks_are_refused_with_what_is_needed(written: Written) -> None:
    text = "model,harness,percent_solved,trials,standard_error\nm,a,35.2,445,1.5\n"
    with pytest.raises(ConfigError, match=r"percent_solved.*not results by task.*successes and trials"):
        imported(written(text))


def test_neither_order_nor_a_second_import_changes_a_byte(tmp_path: Path) -> None:
    lines = ROWS.split()
    made = []
    for number in range(3):
        random.Random(number).shuffle(lines)
        place = tmp_path / str(number)
        place.mkdir()
        (place / "table.csv").write_text(HEAD + "\n".join(lines) + "\n")
        for _ in range(2):
            import_run([place / "table.csv"], place / "run", Wishes())
            report.write(place / "run")
        files = ("study.json", "results.jsonl", "report.json", "report.html", "report.md")
        made.append([(place / "run" / name).read_bytes() for name in files])
    assert made[0] == made[1] == made[2]


def test_an_import_that_was_interrupted_is_completed(written: Written) -> None:
    path = written(HEAD + ROWS)
    results = imported(path) / "results.jsonl"
    whole = results.read_bytes()
    results.write_bytes(whole[:-700])
    imported(path)
    assert results.read_bytes() == whole


def test_an_import_that_was_interrupted_is_not_reported_as_if_it_were_whole(written: Written) -> None:
    folder = imported(written(HEAD + ROWS))
    told = "5 of 12 imported trials are here: the import was interrupted, so repeat it."
    assert told not in report.write(folder)["remarks"]
    lines = (folder / "results.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "results.jsonl").write_bytes(b"".join(lines[:5]))
    assert told in report.write(folder)["remarks"]
    assert f"The second run is incomplete: {told}" in report.compare(str(folder), str(folder))["notes"]


def test_a_line_that_was_damaged_later_is_written_again(written: Written) -> None:
    path = written(HEAD + ROWS)
    results = imported(path) / "results.jsonl"
    whole = results.read_bytes().splitlines()
    results.write_bytes(b"\n".join([b"garbage", *whole[1:]]) + b"\n")
    imported(path)
    assert sorted(map(store.key_of, rows_of(results.parent))) == sorted(
        store.key_of(json.loads(line)) for line in whole
    )


def test_a_folder_that_holds_other_files_is_not_touched(written: Written) -> None:
    path = written(HEAD + ROWS)
    (path.parent / "run").mkdir()
    (path.parent / "run" / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match=r"is not empty and no run's folder \(it holds mine.txt\)"):
        imported(path)
    assert [each.name for each in (path.parent / "run").iterdir()] == ["mine.txt"]


def test_an_import_that_was_killed_before_its_study_was_in_place_may_begin_again(written: Written) -> None:
    path = written(HEAD + ROWS)
    (path.parent / "run").mkdir()
    (path.parent / "run" / ".study.json.123").write_text("{")
    assert len(rows_of(imported(path))) == 12


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet", ".eval"])
@pytest.mark.parametrize("kind", [None, "table", "inspect", "terminal-bench"])
def test_a_pipe_is_not_waited_for(suffix: str, kind: str | None, tmp_path: Path) -> None:
    path = tmp_path / f"pipe{suffix}"
    os.mkfifo(path)
    with pytest.raises(ConfigError, match=r"it is no regular file|a table is one of"):
        import_run([path], tmp_path / "run", Wishes(), kind)


def test_a_source_counts_once(written: Written) -> None:
    path = written(HEAD + ROWS)
    (path.parent / "link.csv").symlink_to(path)
    with pytest.raises(ConfigError, match=r"link\.csv: is named twice"):
        import_run([path, path.parent / "link.csv"], path.parent / "run", Wishes())


def test_a_row_that_stands_in_two_tables_is_named_with_both(written: Written) -> None:
    first, second = written(HEAD + ROWS), written(HEAD + "m,a,one,1,3\n", "second.csv")
    with pytest.raises(ConfigError, match=r"second\.csv: line 2: m, a, one stands twice, first at table\.csv: line 2"):
        import_run([first, second], first.parent / "run", Wishes())


def test_harnesses_that_differ_in_capitals_alone_are_two_and_that_is_said(written: Written) -> None:
    study = store.read_study(imported(written(HEAD + "m,Aider,one,1,2\nm,aider,one,2,2\n")))
    assert study["notes"] == ["'Aider', 'aider' differ in spelling alone and count as 2 harnesses"]


def test_a_folder_of_something_else_is_left_alone(written: Written) -> None:
    folder = imported(written(HEAD + ROWS))
    before = (folder / "results.jsonl").read_bytes()
    with pytest.raises(ConfigError, match="holds another run; name another folder with --out"):
        imported(written(HEAD + ROWS.replace("m,a,one,2,3", "m,a,one,3,3")))
    assert (folder / "results.jsonl").read_bytes() == before


def test_several_models_are_several_endpoints_each_with_what_it_tried(written: Written) -> None:
    folder = imported(written(HEAD + ROWS + "n,a,one,1,3\nn,c,three,2,2\n"))
    data = report.write(folder)
    assert [one["endpoint"]["name"] for one in data["by_endpoint"]] == ["m", "n"]
    assert [one["trials"]["judged"] for one in data["by_endpoint"]] == [12, 5]
    assert not data["incomplete"]


def test_axes_of_a_table_have_effects_against_the_canonical_level(written: Written) -> None:
    dice, lines = random.Random(1), []
    for harness, tools, base in (("a", "few", 0.9), ("b", "few", 0.9), ("c", "many", 0.4), ("d", "many", 0.4)):
        lines += [
            f"m,{harness},t{task:02},{sum(dice.random() < base for _ in range(3))},3,{tools}\n" for task in range(60)
        ]
    folder = imported(written("model,harness,task,successes,trials,axis:tools\n" + "".join(lines)), canonical="a")
    data = report.write(folder)
    (row,) = data["axes"]
    assert (row["axis"], row["level"]) == ("tools", "many")
    assert -0.6 < row["effect"] < -0.4
    assert any("count as exposed" in note for note in data["notes"])


def test_groups_of_tasks_are_what_is_sampled(written: Written) -> None:
    dice = random.Random(2)
    lines = [f"m,{harness},t{task:02},{dice.randrange(4)},3,g{task % 12}\n" for harness in "abc" for task in range(36)]
    data = report.write(imported(written("model,harness,task,successes,trials,group\n" + "".join(lines))))
    assert (data["mean"]["n_tasks"], data["mean"]["n_clusters"]) == (36, 12)


def test_a_task_under_two_spellings_is_one_where_no_harness_tried_both(written: Written) -> None:
    folder = imported(
        written(HEAD + "m,a,win-3.11,1,2\nm,b,win-3-11,1,2\nm,c,win-3.11,1,2\nm,c,x_1,1,1\nm,c,x-1,1,1\n")
    )
    study = store.read_study(folder)
    assert [task["name"] for task in study["tasks"]] == ["win-3.11", "x-1", "x_1"]
    assert study["notes"] == [
        "'win-3-11' is taken for another spelling of the task 'win-3.11', since no harness tried both"
    ]


def test_hostile_names_reach_no_terminal_and_no_page(written: Written) -> None:
    text = HEAD + 'm,"<script>alert(1)</script>\x1b[2J",one,1,2\nm,b,"{{ 7*7 }}\u202e",1,2\n'
    folder = imported(written(text))
    report.write(folder)
    page = (folder / "report.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "\x1b" not in page + (folder / "report.md").read_text()


def test_the_command_prints_what_it_brought_and_other_commands_read_it(written: Written) -> None:
    path = written(HEAD + ROWS)
    out = path.parent / "run"
    done = CliRunner().invoke(command.app, [str(path), "--out", str(out), "--canonical", "a", "--json"])
    assert (done.exit_code, json.loads(done.stdout)["trials"]) == (0, 12)
    listed = CliRunner().invoke(show.app, [str(out), "--json"])
    assert len(json.loads(listed.stdout)["trials"]) == 12
    assert store.read_study(out)["canonical"] == "a"
    assert store.read_study(out)["imported"]["from"] == "table.csv"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--kind", "tabel"], "--kind tabel: is not known; did you mean 'table'?"),
        (["--canonical", "aa"], "--canonical aa: no such harness; "),
        (["--column", "sucesses=x"], "'sucesses' is no column; did you mean 'successes'?"),
        (["--column", "successes=suc"], "table.csv has no column 'suc'; did you mean 'successes'?"),
        (["--column", "successes"], "write OURS=THEIRS"),
        (["--model", ""], "--model: is empty; a name is needed"),
        (["--harness", "x" * 10_000], "has 10,000 characters; a name has at most 200"),
        (["--scorer", "match"], "--scorer: a table has no scorers; --column score=NAME"),
        (["--kind", "inspect"], "table.csv: is no log of Inspect"),
    ],
)
def test_wrong_flags_are_named_with_the_nearest_choice(flags: list[str], message: str, written: Written) -> None:
    path = written(HEAD + ROWS)
    done = CliRunner().invoke(command.app, [str(path), "--out", str(path.parent / "run"), *flags])
    assert isinstance(done.exception, ConfigError)
    assert message in str(done.exception)


def test_the_fourteen_harnesses_are_recounted(shared: Path, tmp_path: Path) -> None:
    path = shared / "data" / "terminal_bench_2_opus_4_6.csv"
    rates: dict[str, list[Fraction]] = defaultdict(list)
    trials: dict[str, int] = defaultdict(int)
    with path.open() as file:
        for row in csv.DictReader(file):
            rates[row["harness"]].append(Fraction(int(row["successes"]), int(row["trials"])))
            trials[row["harness"]] += int(row["trials"])
    means = {name: sum(found, Fraction()) / len(found) for name, found in rates.items()}
    import_run([path], tmp_path / "run", Wishes())
    data = report.write(tmp_path / "run")
    assert len(means) == 14
    assert {one["harness"]: one["plain"] for one in data["harnesses"]} == pytest.approx(
        {name: float(mean) for name, mean in means.items()}, abs=1e-12
    )
    assert {one["harness"]: one["judged"] for one in data["harnesses"]} == dict(trials)
    assert data["mean"]["estimate"] == pytest.approx(float(sum(means.values(), Fraction()) / 14), abs=1e-12)
    assert data["raw_min"]["estimate"] == pytest.approx(float(min(means.values())), abs=1e-12)
    assert (data["n_tasks"], data["trials"]["judged"], data["trials"]["lost"]) == (89, 6230, 0)
    assert data["axes"] == []
    assert "names no axes" in (tmp_path / "run" / "report.html").read_text()
    assert harness_eval.load(tmp_path / "run").trials.solved.sum() == sum(round(mean * 445) for mean in means.values())


def test_the_crossed_table_of_rates_is_refused(shared: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds a rate for each harness"):
        import_run([shared / "data" / "terminal_bench_2_crossed.csv"], tmp_path / "run", Wishes())
