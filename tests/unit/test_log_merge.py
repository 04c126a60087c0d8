"""Each line once, in the order of the times."""

from __future__ import annotations

from slurmtui.store.log_entry import LogEntry
from slurmtui.store.log_merge import FLOW, Found, Merger


def found(order: float, text: str, place: str, *, speaker: str = FLOW, rest: tuple[str, ...] = ()) -> Found:
    return Found(order, LogEntry(text=text, source="out", time=order), place, text, speaker, rest)


def plain(order: float, text: str, place: str) -> Found:
    return Found(order, LogEntry(text=text, source="out"), place)


def texts(entries: list[LogEntry]) -> list[str]:
    return [entry.text for entry in entries]


def test_batch_is_ordered_by_time_and_keeps_each_places_order() -> None:
    merged = Merger().merge([plain(5, "c", "a"), plain(5, "d", "a"), plain(1, "a", "b"), plain(3, "b", "b")])
    assert texts(merged) == ["a", "b", "c", "d"]


def test_line_of_two_places_is_shown_once_whichever_comes_first() -> None:
    for first, second in (("prefect", "driver.log"), ("driver.log", "prefect")):
        merger = Merger()
        assert texts(merger.merge([found(10, "epoch 1", first)])) == ["epoch 1"]
        assert texts(merger.merge([found(11.9, "epoch 1", second), found(12, "epoch 2", second)])) == ["epoch 2"]


def test_same_words_later_are_another_line() -> None:
    merger = Merger()
    merger.merge([found(10, "done", "prefect")])
    assert texts(merger.merge([found(12.5, "done", "driver.log")])) == ["done"]


def test_words_repeated_by_one_place_are_all_shown() -> None:
    merger = Merger()
    assert texts(merger.merge([found(10, "step", "prefect")] * 3)) == ["step"] * 3
    assert texts(merger.merge([found(10.1, "step", "driver.log")] * 4)) == ["step"], "three are known, one is new"


def test_same_words_of_two_tasks_are_two_lines() -> None:
    merger = Merger()
    merger.merge([found(10, "done", "a.err", speaker="task fit-1")])
    assert texts(merger.merge([found(10, "done", "prefect", speaker="task fit-2")])) == ["done"]
    assert texts(merger.merge([found(10, "done", "prefect", speaker="task fit-1")])) == []


def test_speaker_that_is_not_known_yet_matches() -> None:
    merger = Merger()
    merger.merge([found(10, "done", "a.err", speaker="task fit-1")])
    assert texts(merger.merge([found(10, "done", "prefect", speaker="")])) == []


def test_lines_of_a_long_message_are_shown_once_too() -> None:
    message = [
        found(10, "Traceback:", "prefect", rest=("  at x", "Boom")),
        plain(10, "  at x", "prefect"),
        plain(10, "Boom", "prefect"),
    ]
    printed = [
        found(10, "Traceback:", "driver.log"),
        plain(10, "  at x", "driver.log"),
        plain(10, "Boom", "driver.log"),
    ]
    for first, second in ((message, printed), (printed, message)):
        merger = Merger()
        assert texts(merger.merge(first)) == ["Traceback:", "  at x", "Boom"]
        after = plain(11, "own words", second[0].place)
        assert texts(merger.merge([*second, after])) == ["own words"]


def test_plain_line_between_is_not_swallowed() -> None:
    merger = Merger()
    merger.merge([found(10, "a", "prefect", rest=("b",)), plain(10, "b", "prefect")])
    assert texts(merger.merge([found(10, "a", "out"), plain(10, "other", "out"), plain(10, "b", "out")])) == [
        "other",
        "b",
    ]
