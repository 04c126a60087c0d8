"""What a line of a log file tells of its time and its writer."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.store.log_parse import parse_line, parse_lines

NOON = dt.datetime(2026, 3, 14, 12, 0, 0).astimezone().timestamp()


def local(*parts: int) -> float:
    return dt.datetime(*parts).astimezone().timestamp()  # type: ignore[arg-type]


def test_prefects_console_line_of_a_task_run() -> None:
    found = parse_line("11:59:02.123 | INFO    | Task run 'fit-3' - loss 0.4 - fine", NOON)
    assert found.time == pytest.approx(local(2026, 3, 14, 11, 59, 2) + 0.123)
    assert (found.level, found.logger, found.message) == (20, "fit-3", "loss 0.4 - fine")
    assert found.text == "loss 0.4 - fine"
    assert found.task
    assert not found.flow


def test_prefects_console_line_of_a_flow_run_and_of_a_logger() -> None:
    flow = parse_line("11:59:02.123 | WARNING | Flow run 'brave-otter' - careful", NOON)
    assert (flow.level, flow.logger, flow.message, flow.flow) == (30, "brave-otter", "careful", True)
    logger = parse_line("11:59:02.123 | ERROR   | prefect.task_runner.dask - gone", NOON)
    assert (logger.level, logger.logger, logger.message, logger.flow) == (40, "prefect.task_runner.dask", "gone", False)


def test_name_of_a_run_may_hold_what_separates() -> None:
    found = parse_line("""11:59:02.123 | INFO    | Task run "it's - odd" - and - so on""", NOON)
    assert (found.logger, found.text) == ("it's - odd", "and - so on")


def test_colours_of_a_console_line_are_kept_in_its_text_only() -> None:
    found = parse_line("11:59:02.123 | \x1b[32mINFO\x1b[0m    | Flow run 'a' - \x1b[31mred\x1b[0m words", NOON)
    assert found.message == "red words"
    assert found.text == "\x1b[31mred\x1b[0m words"


def test_line_of_our_driver() -> None:
    found = parse_line("11:59:02 | slurmtui | the run ended: COMPLETED", NOON)
    assert found.time == local(2026, 3, 14, 11, 59, 2)
    assert found.text == "slurmtui | the run ended: COMPLETED"
    assert found.message is None


@pytest.mark.parametrize(
    ("line", "expected", "level"),
    [
        ("2026-03-14 11:00:05,250 - distributed.worker - INFO - hello", local(2026, 3, 14, 11, 0, 5) + 0.25, 20),
        ("2026-03-14T11:00:05 hello", local(2026, 3, 14, 11, 0, 5), None),
        ("[2026-03-14 11:00:05.5] ERROR: hello", local(2026, 3, 14, 11, 0, 5) + 0.5, 40),
        (
            "2026-03-14T11:00:05.123456789Z x",
            dt.datetime(2026, 3, 14, 11, 0, 5, 123456, dt.timezone.utc).timestamp(),
            None,
        ),
        ("2026-03-14 11:00:05+0530 x", dt.datetime(2026, 3, 14, 5, 30, 5, 0, dt.timezone.utc).timestamp(), None),
        ("2026-13-14 11:00:05 no such month", None, None),
        ("99:99:99.999 | INFO    | Flow run 'a' - b", None, 20),
        ("plain words", None, None),
        ("", None, None),
        ("  2026-03-14 11:00:05 indented, so a continuation", None, None),
        ("10%\r2026-03-14 11:00:05 after a bar", None, None),
    ],
)
def test_times(line: str, expected: float | None, level: int | None) -> None:
    found = parse_line(line, NOON)
    assert found.time == (None if expected is None else pytest.approx(expected))
    assert found.level == level
    assert found.message is None or "Flow run" in line
    if found.message is None:
        assert found.text == line


@pytest.mark.parametrize(
    ("line", "library"),
    [
        ("2026-03-14 11:00:05,123 - distributed.worker - INFO -          Listening to:      tls://192.0.2.2:1", True),
        ("2026-03-14 11:00:05,123 - distributed.core - DEBUG - x", True),
        ("2026-03-14 11:00:05,123 - dask_jobqueue.core - INFO - x", True),
        ("2026-03-14 11:00:05,123 - distributed.worker - WARNING - Heartbeat failed", False),
        ("2026-03-14 11:00:05,123 - mine - INFO - distributed.worker - INFO - x", False),
        ("2026-03-14 11:00:05,123 - distributed_training - INFO - epoch 3", False),
        ("11:00:05.123 | INFO    | distributed.scheduler - Register worker", True),
        ("11:00:05.123 | ERROR   | distributed.scheduler - Worker failed", False),
        ("11:00:05.123 | INFO    | Task run 'fit' - distributed.scheduler - x", False),
        ("11:00:05.123 | INFO    | prefect.task_runner.dask - Creating a new Dask cluster", False),
        ("distributed.worker - INFO - without a time", False),
    ],
)
def test_lines_of_dask_that_tell_of_nothing_wrong(line: str, library: bool) -> None:  # noqa: FBT001 - of a table
    assert parse_line(line, NOON).library is library


def test_windows_line_ends_are_no_text() -> None:
    assert parse_line("hello\r", NOON).text == "hello"


def test_times_of_day_are_dated_backwards_over_midnights() -> None:
    moments = ["22:00:00.000", "23:59:59.000", "00:00:01.000", "12:00:00.000", "23:00:00.000", "01:00:00.000"]
    lines = [f"{moment} | INFO    | Flow run 'a' - x".encode() for moment in moments]
    times = [one.time for one in parse_lines(lines, local(2026, 3, 14, 2, 0, 0))]
    assert times == [
        local(2026, 3, 12, 22, 0, 0), local(2026, 3, 12, 23, 59, 59), local(2026, 3, 13, 0, 0, 1),
        local(2026, 3, 13, 12, 0, 0), local(2026, 3, 13, 23, 0, 0), local(2026, 3, 14, 1, 0, 0),
    ]  # fmt: skip


def test_clock_slightly_ahead_is_not_yesterday() -> None:
    line = b"12:00:30.000 | INFO    | Flow run 'a' - x"
    assert parse_lines([line], NOON)[0].time == local(2026, 3, 14, 12, 0, 30)


@given(st.lists(st.binary(max_size=60), max_size=10))
def test_any_bytes_give_a_line_each(lines: list[bytes]) -> None:
    assert len(parse_lines(lines, NOON)) == len(lines)


@given(
    st.from_regex(r"\d\d:\d\d:\d\d\.\d{3} \| [A-Z]+ +\| .{0,20}", fullmatch=True)
    | st.from_regex(r"[\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]?\d*(Z|[+-]\d{4})?.{0,20}", fullmatch=True)
)
def test_anything_like_a_time_never_fails(line: str) -> None:
    parse_line(line, NOON)
