"""What the views of nodes, partitions, ended jobs, shares and plots write."""

from __future__ import annotations

import time

import pytest

from slurmtui.control.slurm import TestOnly as Told
from slurmtui.models.fits import answers
from slurmtui.models.gres import parse_gres
from slurmtui.models.history import Lives, PastJob, day_of, day_start
from slurmtui.models.job import Job
from slurmtui.models.job_table import QUEUE, JobTable
from slurmtui.models.node import Node, parse_node_state
from slurmtui.models.partition_use import ClusterUse, GpuUse, PartitionFacts, partition_uses
from slurmtui.models.share import Limits
from slurmtui.models.text import cells
from slurmtui.models.wish import parse_wish
from slurmtui.store.my_use import MyUse, my_use
from slurmtui.views import amounts
from slurmtui.views.fits import options, page
from slurmtui.views.history.rows import HistoryRows, arrange, day_words
from slurmtui.views.lines import TABS, tab_line
from slurmtui.views.nodes.detail import meanings, node_lines
from slurmtui.views.nodes.rows import NodeRows, jobs_by_node, usual_order
from slurmtui.views.plots import series
from slurmtui.views.shares.rows import limit_words, now_words, things
from tests.records import record_of


def flat(cell: object) -> str:
    if isinstance(cell, list):
        return "".join(text for text, _ in cell)
    return str(cell[0] if isinstance(cell, tuple) else cell)


def queue(*jobs: dict[str, str]) -> JobTable:
    usual = {"raw_id": "1", "user": "alice", "state": "RUNNING", "cpus": "1"}
    return JobTable(b"".join(record_of(QUEUE, usual, **job) for job in jobs))


# --- amounts


@pytest.mark.parametrize(
    ("mebibytes", "text"),
    [(None, "–"), (0, "0"), (512, "512M"), (1024, "1G"), (4000, "3.9G"), (16000, "16G"), (2.5 * 1024**2, "2.5T")],  # noqa: RUF001
)
def test_memory(mebibytes: float | None, text: str) -> None:
    assert amounts.memory(mebibytes) == text


def test_free_of_total() -> None:
    assert amounts.of("7.3G", "7.8G") == "7.3/7.8G"
    assert amounts.of("512M", "8G") == "512M/8G"
    assert amounts.of("0", "8G") == "0/8G"
    assert amounts.of("14", "16") == "14/16"


def test_gpus_by_type_without_a_generic_count() -> None:
    total = parse_gres("gpu:4,gpu:a100:2,gpu:nvidia_h200_nvl:2,shard:8")
    gpus = [thing for thing in total if thing.name == "gpu"]
    assert flat(amounts.free_gpus(gpus, parse_gres("gpu:a100:1,gpu:nvidia_h200_nvl:0"))) == "a100 1/2 h200_nvl 0/2"
    assert flat(amounts.free_gpu_uses([GpuUse("a100", 2), GpuUse("", 0, 3, 1)])) == "a100 0/2 1 of some type"
    assert flat(amounts.free_gpus((), ())) == "–"  # noqa: RUF001 - an en dash is what is meant


# --- nodes


def test_node_lists_of_jobs_are_expanded_for_open_nodes() -> None:
    table = queue(
        {"id": "1", "nodes": "unit[0-1]rack[0-2]"}, {"id": "2", "nodes": "n[1-2]-ib,cn_[01-02]"},
        {"id": "3", "nodes": "(null)", "state": "PENDING"}, {"id": "4", "nodes": "n1-ib"},
    )  # fmt: skip
    found = jobs_by_node(table, {"unit1rack2", "n1-ib", "cn_02", "free"})
    assert {name: [job.id for job in jobs] for name, jobs in found.items()} == {
        "unit1rack2": ["1"], "n1-ib": ["2", "4"], "cn_02": ["2"], "free": [],
    }  # fmt: skip


def test_nodes_out_of_order_come_first_and_keep_their_order() -> None:
    nodes = [Node(name=name, state=parse_node_state(state)) for name, state in
             (("n1", "idle"), ("n2", "down*"), ("n3", "mixed"), ("n4", "idle+drain"), ("n5", "weird"))]  # fmt: skip
    assert [node.name for node in usual_order(nodes)] == ["n2", "n4", "n1", "n3", "n5"]
    rows = NodeRows(nodes, {}, {}, time.time())
    assert flat(rows.cells(4)[1]) == "weird"  # never heard of: as it is written


def test_rows_of_an_open_node() -> None:
    node = Node(name="n1", state=parse_node_state("mixed"), cpus=8, cpus_used=2, cpus_idle=6)
    (job,) = queue({"id": "7", "nodes": "n1", "name": "x[/y]\x1b", "user": "bob"}).jobs()
    for opened, keys in (
        ({"n1": [job]}, ["node:n1", "job:n1:7"]), ({"n1": []}, ["node:n1", "note:n1"]),
        ({"n1": None}, ["node:n1", "asking:n1"]), ({}, ["node:n1"]),
    ):  # fmt: skip
        rows = NodeRows([node], opened, {"7": "brave-otter"}, time.time())
        assert [rows.key(index) for index in range(len(rows))] == keys
    rows = NodeRows([node], {"n1": [job]}, {"7": "brave-otter"}, time.time())
    assert flat(rows.cells(1)[8]) == "bob  x[/y]␛  brave-otter"


def test_detail_says_what_a_state_means_for_ones_jobs() -> None:
    assert meanings(parse_node_state("MIXED+PLANNED")) == [
        "SLURM keeps it for a job with a higher priority; shorter jobs may still fit in before"
    ]
    since = time.time() - 3600
    node = Node(name="n1", state=parse_node_state("idle+drain*"), reason="disk\n\x1b", since=since, by="eve",
                cpus=8, memory=1000, gres=parse_gres("gpu:a100:4"), gres_used=parse_gres("gpu:a100:1"))  # fmt: skip
    text = "\n".join("".join(piece for piece, _ in line) for line in node_lines(node, time.time()))
    assert "no new job is started on it" in text
    assert "slurmctld does not hear of it" in text
    assert "disk␊␛" in text
    assert "1h00 ago" in text
    assert "4 a100, 1 in use" in text


# --- what fits


def test_the_page_of_what_fits() -> None:
    cluster = ClusterUse(
        (Node(name="g1", partitions=("gpu",), state=parse_node_state("idle"), cpus=16, cpus_idle=16, memory=8000,
              gres=parse_gres("gpu:a100:4"), gres_used=parse_gres("gpu:a100:0")),),
        (PartitionFacts(name="gpu", state="up"), PartitionFacts(name="batch", state="up")),
    )  # fmt: skip
    wish = parse_wish("2 a100 1h", ["a100"])
    now = time.time()
    lines = page(wish, answers(wish, partition_uses(cluster)), {
        "gpu": Told(ok=True, text="", start=now + 7200, nodes="g1"), "batch": "sbatch: timed out"}, now)  # fmt: skip
    text = "\n".join("".join(piece for piece, _ in line) for line in lines)
    assert "2 a100 1 core for 1:00:00" in text
    assert "2 such jobs have room now  g1" in text
    assert "(in 2h00) on g1" in text  # SLURM knows better: others come first
    assert "never: it has no a100" in text
    assert options(wish, "gpu") == [
        "--partition=gpu", "--nodes=1", "--ntasks-per-node=1", "--cpus-per-task=1", "--gres=gpu:a100:2", "--time=60",
    ]  # fmt: skip


# --- history


def past(number: int, end: float, job_id: str = "", **facts: object) -> PastJob:
    made = {"id": job_id or str(number), "raw_id": str(number), "end": end, "state": "COMPLETED", "name": "x", **facts}
    return PastJob(**made)  # type: ignore[arg-type]


def test_a_line_a_day_with_its_tally_and_arrays_as_one_row() -> None:
    noon = day_start("2026-11-20") + 43200
    jobs = [
        past(1, noon), past(2, noon - 1, "40_1"), past(3, noon - 2, "40_2", state="FAILED"),
        past(4, noon - 86400, "40_3"),
    ]  # fmt: skip
    lines = arrange(jobs, (), ())
    assert [line.key for line in lines] == [
        "day:2026-11-20", f"past:{jobs[0].key}", "array:2026-11-20:40", "day:2026-11-19", f"past:{jobs[3].key}",
    ]  # fmt: skip
    rows = HistoryRows(lines, Lives(jobs), lambda _job: "", (), noon)
    assert flat(rows.cells(0)[0]) == "today"
    assert flat(rows.cells(0)[12]) == "2 done, 1 failed"
    assert flat(rows.cells(2)[12]) == "2 tasks: 1 done, 1 failed"
    assert flat(rows.cells(3)[0]) == "yesterday"
    opened = arrange(jobs, ("array:2026-11-20:40",), ("2026-11-19",))
    assert [line.kind for line in opened] == ["day", "past", "array", "past", "past", "day"]


def test_lives_exit_codes_and_odd_states_are_told() -> None:
    now = time.time()
    jobs = [
        past(1, now - 50, state="REQUEUED", start=now - 100, nodes="n1"), past(1, now, start=now - 40, nodes="n2"),
        past(2, now, state="FAILED", exit_code=3, nodes="n1"), past(3, now, state="FAILED", signal=9, nodes="n1"),
        past(4, now, state="CANCELLED", elapsed=0), past(5, now, state="NEWFANGLED", nodes="n1"),
    ]  # fmt: skip
    rows = HistoryRows(arrange(jobs, (), ()), Lives(jobs), lambda _job: "", (), now)
    hows = {rows.line(rows.key(index)).job: flat(rows.cells(index)[12]) for index in range(len(rows))}  # type: ignore[union-attr]
    assert hows[jobs[0]] == "life 1 of 2  requeued  n1"
    assert hows[jobs[1]] == "life 2 of 2  n2"
    assert hows[jobs[2]] == "exit 3  n1"
    assert hows[jobs[3]] == "signal 9  n1"
    assert hows[jobs[4]] == "cancelled  never started"
    assert hows[jobs[5]] == "newfangled  n1"


def test_day_words() -> None:
    now = day_start("2026-11-20") + 3600
    assert [day_words(day, now) for day in ("2026-11-20", "2026-11-19", "2026-11-18")] == [
        "today", "yesterday", "Wed 18 Nov",
    ]  # fmt: skip
    assert day_of(now) == "2026-11-20"


# --- shares


def test_limits_in_words() -> None:
    limits = Limits(kind="qos", name="long", values=(
        ("time limit", "7-00:00:00"), ("each user", "cpu=16,gres/gpu=2,mem=64G"), ("running jobs of a user", "4"),
        ("budget", "cpu=1000"), ("a job", "gres/gpu:a100=1,node=2"),
    ))  # fmt: skip
    assert limit_words(limits) == (
        "time limit 7d00 · each user 16 CPUs, 2 GPUs, 64G · 4 running jobs of a user · budget 1000 CPUs minutes · "
        "a job 1 a100, 2 nodes"
    )
    assert things("bb/datawarp=5") == "5 bb/datawarp"


def test_what_my_jobs_hold_by_account_and_qos() -> None:
    table = queue(
        {"id": "1", "account": "research", "qos": "long", "cpus": "4", "tres": "cpu=4,gres/gpu=2"},
        {"id": "2_[0-9]", "account": "research", "qos": "normal", "state": "PENDING"},
        {"id": "3", "account": "research", "qos": "long", "user": "bob", "cpus": "64"},
        {"id": "4", "account": "teaching", "qos": "normal", "state": "COMPLETING"},
    )
    found = my_use(table, "alice")
    assert found == {
        ("account", "research"): MyUse(1, 10, 4, 2), ("qos", "long"): MyUse(1, 0, 4, 2),
        ("qos", "normal"): MyUse(0, 10),
    }  # fmt: skip
    assert now_words(found["account", "research"]) == "1 run, 4 CPUs, 2 GPUs; 10 wait"
    assert now_words(found["qos", "normal"]) == "10 wait"
    assert now_words(MyUse(running=1, cpus=1, gpus=1)) == "1 run, 1 CPU, 1 GPU"


# --- plots


def some_cluster() -> ClusterUse:
    return ClusterUse(
        (
            Node(name="g1", partitions=("gpu", "all"), state=parse_node_state("mixed"), cpus=16, cpus_used=4,
                 cpus_idle=12, gres=parse_gres("gpu:a100:4"), gres_used=parse_gres("gpu:a100:1")),
            Node(name="g2", partitions=("gpu", "all"), state=parse_node_state("down"), cpus=16,
                 gres=parse_gres("gpu:a100:4")),
        ),
        (PartitionFacts(name="all", state="up"), PartitionFacts(name="gpu", state="up")),
    )  # fmt: skip


def test_sums_of_the_cluster_count_each_node_once() -> None:
    assert series.cpu_words(some_cluster()) == "4 of 32 CPUs in use (12%), 12 free, 16 out"
    assert series.gpu_words(some_cluster()) == "1 of 8 GPUs in use (12%), 3 free, 4 out"
    assert series.gpu_words(ClusterUse()) == "no GPUs"


@pytest.mark.parametrize("width", [24, 36, 76, 156])
def test_bars_fill_the_width_and_every_part_is_seen(width: int) -> None:
    rows = series.cpu_bars(some_cluster())
    for line in series.bar_lines(rows, width):
        text = "".join(piece for piece, _ in line)
        assert len(text) <= width
        assert all(glyph in text for glyph in "█░▒")
        assert text.startswith(("all", "gpu"))


def test_waiting_times_by_partition() -> None:
    now = time.time()
    jobs = [
        PastJob(id=str(n), raw_id=str(n), end=now, submit=now - 5000, start=now - 5000 + n * 100, elapsed=5,
                partition="gpu") for n in range(10)
    ] + [PastJob(id="9", raw_id="9", end=now, submit=now - 50, start=now - 40, elapsed=5, partition="batch"),
         PastJob(id="10", raw_id="10", end=now, submit=now - 50, start=now, elapsed=0, partition="never")]  # fmt: skip
    rows = series.wait_bars(jobs)
    assert [row.name for row in rows] == ["gpu", "batch"]
    assert rows[0].text == "half within 8m, 9 of 10 within 15m (10 jobs)"


# --- tabs


@pytest.mark.parametrize("width", [160, 80, 60, 40])
@pytest.mark.parametrize("place", [tab[1] for tab in TABS])
def test_tabs_leave_room_for_what_a_view_shows(place: str, width: int) -> None:
    pieces = tab_line(place, "412 ended ", width)
    text = "".join(piece for piece, _ in pieces)
    assert text.rstrip().endswith(" 412 ended")
    assert len(text) <= width
    assert all(f" {tab[0]}" in text for tab in TABS)
    (here,) = [piece for piece, style in pieces if "reverse" in style]
    assert any(title in here for title in next(tab[2:] for tab in TABS if tab[1] == place))


@pytest.mark.parametrize(
    ("place", "title", "short"), [("rescue", " ! Rescue ", " ! Resc "), ("clusters", " 9 Clusters ", " 9 Clus ")]
)
def test_the_title_is_whole_where_there_is_room_beside_the_other_keys(place: str, title: str, short: str) -> None:
    assert (title, "bold reverse") in tab_line(place, "", 80)
    assert (title, "bold reverse") in tab_line(place, "2 need you ", 60)
    assert (short, "bold reverse") in tab_line(place, "2 need you ", 39)


@pytest.mark.parametrize(("count", "told"), [(1, "1 node, 1 CPU, 4G gpu:1"), (2, "2 nodes, 2 CPUs, 4G gpu:1")])
def test_what_a_job_asks_for_is_counted(count: int, told: str) -> None:
    assert amounts.asked(Job(id="1", raw_id=1, node_count=count, cpus=count, memory="4G", gres="gpu:1")) == told


@pytest.mark.parametrize("width", [160, 120, 80, 60])
@pytest.mark.parametrize("sought", ["日本", "日本語のジョブ", "a日", "שלום"])
def test_what_a_view_shows_has_room_in_wide_characters_too(sought: str, width: int) -> None:
    text = "".join(piece for piece, _ in tab_line("jobs", f"1 job · mine  / {sought} ", width))
    assert text.endswith(f"/ {sought} ")
    assert cells(text) == width
