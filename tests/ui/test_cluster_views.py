"""Nodes, partitions, ended jobs, shares and plots as a person sees them, on painted answers."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.control.slurm import TestOnly as Told
from slurmtui.errors import CommandError
from slurmtui.store.side_feed import SideFeed
from slurmtui.store.side_feeds import OnNodes
from tests.ui.painted_cluster import (
    PLACES,
    SIZES,
    TIMING,
    job_on,
    line_of,
    side_of,
    some_cluster,
    some_history,
    some_shares,
    with_side,
)
from tests.ui.seeing import gone, see, settled, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from tests.ui.conftest import PaintedApp


@pytest.fixture
def make(make_console: Callable[..., PaintedApp]) -> Callable[..., PaintedApp]:
    return with_side(make_console)


# --- every view at every size


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("nodes", ("gpu1", "drained", "12/16")),
        ("partitions", ("batch", "gpu", "3", "9,535")),
        ("history", ("today", "twice", "900")),
        ("shares", ("└ alice", "0.310")),
        ("plots", ("Queue over time",)),
    ],
)
async def test_every_view_at_every_size(
    make: Callable[..., PaintedApp], place: str, words: tuple[str, ...], size: tuple[int, int]
) -> None:
    async with make().run_test(size=size, notifications=True) as pilot:
        await pilot.press(PLACES[place])
        text = await see(pilot, *words)
        assert all(len(line) <= size[0] for line in text.splitlines())
        assert "? help" in text
        assert pilot.app.current_mode == place


async def test_hidden_views_ask_nothing_and_a_covered_one_neither(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(120, 34), notifications=True) as pilot:
        await _others_ask(pilot)
        assert side_of(pilot).asked == Counter()
        await pilot.press("4")
        await see(pilot, "9,535")
        assert set(side_of(pilot).asked) == {"nodes", "counts"}
        await pilot.press("2")
        await see(pilot, "5122")
        await _nobody_asks(pilot)
        await pilot.press("3", "question_mark")
        await see(pilot, "help · nodes")
        await _nobody_asks(pilot)


async def _nobody_asks(pilot: Pilot[Any]) -> None:
    side = side_of(pilot)
    await until(pilot, lambda: not any(feed.shown for feed in side.all))
    before = Counter(side.asked)
    await _others_ask(pilot)
    assert side.asked == before


async def _others_ask(pilot: Pilot[Any]) -> None:
    """Wait until a feed that is shown has asked several times: one that were still asking would have asked too."""
    asked: list[float] = []

    async def ask() -> None:
        asked.append(time.monotonic())

    feed = SideFeed("another", ask, None, TIMING)
    feed.show("test", lambda: None)
    await until(pilot, lambda: len(asked) >= 4)
    await feed.stop()


@pytest.mark.parametrize("place", PLACES)
async def test_slurm_that_does_not_answer_leaves_old_data_dimmed_with_its_words(
    make: Callable[..., PaintedApp], place: str
) -> None:
    async with make().run_test(size=(140, 34), notifications=True) as pilot:
        await pilot.press(PLACES[place])
        shown = {"nodes": "gpu1", "partitions": "batch", "history": "sweep", "shares": "research", "plots": "in use"}
        await see(pilot, shown[place])
        for name in side_of(pilot).paint:
            side_of(pilot).paint[name] = CommandError("x: Unable to contact slurm\x1b", argv=("x",), code=1)
        text = await see(pilot, "does not answer", "Unable to contact slurm␛")
        assert shown[place] in text
        await until(pilot, lambda: pilot.app.screen.table.dimmed)  # type: ignore[attr-defined]
        side_of(pilot).paint |= {"nodes": some_cluster(), "counts": {}, "on_nodes": OnNodes(),
                                 "history": some_history(), "shares": some_shares()}  # fmt: skip
        await gone(pilot, "does not answer")
        assert not pilot.app.screen.table.dimmed  # type: ignore[attr-defined]


async def test_help_lists_the_keys_of_each_view_and_why_some_cannot_be_used(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(120, 60), notifications=True) as pilot:
        for place, words in (
            ("nodes", "What fits now"), ("partitions", "Its jobs"), ("history", "More days"), ("shares", "fair-share"),
            ("plots", "Choose a picture"),
        ):  # fmt: skip
            await pilot.press(PLACES[place], "question_mark")
            text = " ".join((await see(pilot, f"help · {place}")).split())
            assert words in text
            await pilot.press("escape")


# --- nodes


async def test_nodes_out_of_order_first_with_reason_and_nothing_free(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(160, 34), notifications=True) as pilot:
        await pilot.press("3")
        text = await see(pilot, "disk [x]␛[31m (eve)")
        rows = [line.split()[0] for line in text.splitlines()[3:10]]
        assert rows == ["n2", "▸", "gpu2", "▸", "n10", "▸", "n12"]
        drained = line_of(text, "n2")
        assert "drained, not respond" in drained
        assert "0/8" in drained
        assert "2h00" in drained
        assert "a100 3/4" in line_of(text, "gpu1")  # the generic count is not added
        assert "a100 2/2 v100 2/2" in line_of(text, "gpu2")
        assert "sublimated" in line_of(text, "n12")
        assert "0/8" in line_of(text, "n12")  # a state never heard of gives nothing away
        assert "mixed, planned" in line_of(text, "n11")
        assert "asleep" in line_of(text, "n10")
        assert "7 nodes · 1 out of order" in text


async def test_only_what_is_wrong_and_filters_and_order(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(160, 34), notifications=True) as pilot:
        await pilot.press("3")
        await see(pilot, "gpu1")
        await pilot.press("z")
        await gone(pilot, "gpu1")
        await see(pilot, "only what is wrong", "disk [x]")
        await pilot.press("z", "slash", *"freegpus>3", "enter")
        await gone(pilot, "n11")
        await see(pilot, "gpu2", "1 of 7 nodes")
        await pilot.press("colon", *"filter x>1", "enter")
        await see(pilot, "there is no field")
        await pilot.press("escape", "escape", "s")
        await see(pilot, "sort by")
        await pilot.press(*["down"] * 4, "enter")
        await see(pilot, "FREE CPU▾")
        table = pilot.app.screen.table  # type: ignore[attr-defined]
        assert table.source.key(0) == "node:gpu2"
        await pilot.press("equals_sign")
        await see(pilot, "FREE CPU▴")
        await pilot.resize_terminal(139, 40)
        await see(pilot, "FREE CPU▴")


async def test_enter_shows_what_runs_on_a_node_and_its_job_has_log_detail_and_other_side(
    make: Callable[..., PaintedApp],
) -> None:
    async with make().run_test(size=(160, 40), notifications=True) as pilot:
        await pilot.press("3")
        await see(pilot, "gpu1")
        side = side_of(pilot)
        pilot.app.screen.seek("node:gpu1")  # type: ignore[attr-defined]
        await pilot.press("enter")
        assert side._open_nodes == ("gpu1",)
        await see(pilot, "asking SLURM…")
        side.paint["on_nodes"] = OnNodes(frozenset({"gpu1"}), job_on("4711", "gpu[1-2]"))
        await see(pilot, "└ 4711", "bob  x[/y]␛]52;")
        await pilot.press("down", "d")
        await see(pilot, "job 4711", "o shows it in the queue")
        await pilot.press("o")
        await see(pilot, "LIMIT")
        assert pilot.app.current_mode == "jobs"
        assert pilot.app.screen.table.cursor_key == "4711"  # type: ignore[attr-defined]
        await pilot.press("3", "escape", "escape")
        await gone(pilot, "└ 4711")
        assert not side._open_nodes


async def test_a_node_without_jobs_says_so_and_its_log_is_refused(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.press("3")
        await see(pilot, "gpu1")
        side_of(pilot).paint["on_nodes"] = OnNodes(frozenset({"n2"}))
        await pilot.press("enter")
        await see(pilot, "no job runs here")
        await pilot.press("l")
        await see(pilot, "Put the cursor on a job")
        await pilot.press("d")
        await see(pilot, "an administrator lets it run empty", "eve")


# --- partitions


async def test_a_filter_that_matches_nothing_shows_none_of_them(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(160, 40), notifications=True) as pilot:
        for key, words in (("3", "0 of 7 nodes"), ("4", "0 of 4 partitions"), ("6", "0 of 4 lines")):
            await pilot.press(key)
            await settled(pilot, 5)
            await pilot.press("slash", *"zzz", "enter")
            await see(pilot, words)


async def test_partitions_tell_what_is_free_by_type_and_who_waits(make: Callable[..., PaintedApp]) -> None:
    async with make().run_test(size=(160, 40), notifications=True) as pilot:
        await pilot.press("4")
        text = await see(pilot, "9,535")
        gpu = " ".join(line_of(text, "gpu").split())
        assert "28/32" in gpu
        assert "a100 5/6 v100 2/2" in gpu
        assert gpu.endswith("1d00 3 40")
        assert "drain" in line_of(text, "old")
        assert "debug *" in text
        await pilot.press("z")
        await gone(pilot, "9,535")
        await see(pilot, "old")
        await pilot.press("z")
        await see(pilot, "batch")
        pilot.app.screen.seek("partition:batch")  # type: ignore[attr-defined]
        await pilot.press("enter")
        await see(pilot, "/ partition=batch", "n10")
        assert pilot.app.current_mode == "nodes"


async def test_what_could_start_now(make: Callable[..., PaintedApp], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    async def says(runner: Any, script: bytes, options: list[str]) -> Told:
        del runner, script
        asked.append(options)
        if "--partition=gpu" in options:
            return Told(ok=True, text="", start=time.time() + 3600, nodes="gpu1")
        return Told(ok=False, text="Invalid account\x1b")

    monkeypatch.setattr("slurmtui.views.fits.test_only", says)
    async with make().run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.press("4")
        await see(pilot, "9,535")
        await pilot.press("f")
        await pilot.pause()
        await pilot.press(*"2 a100 4 cores", "enter")
        text = await see(pilot, "what could start now", "2 such jobs have room now")
        assert "SLURM would start it at" in text
        assert "never: it has no a100" in text
        assert "the partition is drain" in text
        assert [options[0] for options in asked] == ["--partition=gpu"]
        await pilot.press("escape")
        await pilot.press("colon", *"fits 2 x100", "enter")
        await see(pilot, "'x100' is not understood", "a100, v100")
