"""A followed file gives each line once, whatever its writer does."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmtui.sources.files import open_log
from slurmtui.sources.files.open_log import LONGEST_LINE
from slurmtui.sources.files.tail import FileTail

if TYPE_CHECKING:
    from collections.abc import Callable


def numbered(start: int, end: int) -> list[bytes]:
    return [b"line %d" % number for number in range(start, end)]


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as stream:
        stream.write(data)


def drained(tail: FileTail) -> list[bytes]:
    """Everything that is there now."""
    lines = tail.read_new()
    while tail.behind:
        lines += tail.read_new()
    return lines


def follow(tail: FileTail, writer: Callable[[], None]) -> list[bytes]:
    """Read while ``writer`` works in a thread, and once more after its end."""
    thread = threading.Thread(target=writer)
    thread.start()
    lines: list[bytes] = []
    while thread.is_alive():
        lines += tail.read_new(10_000)
        time.sleep(0.001)
    thread.join()
    return lines + drained(tail)


def test_last_lines_then_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    append(path, b"".join(line + b"\n" for line in numbered(0, 1000)))
    tail = FileTail(path)
    assert tail.last_lines(3) == numbered(997, 1000)
    append(path, b"line 1000\nline 10")
    assert tail.read_new() == [b"line 1000"]
    assert tail.partial == b"line 10"
    append(path, b"01\n")
    assert tail.read_new() == [b"line 1001"]
    assert tail.read_new() == []


def test_unfinished_line_at_the_end_is_held_until_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    append(path, b"one\ntwo\nthr")
    for count, expected in ((0, []), (1, [b"two"]), (5, [b"one", b"two"])):
        tail = FileTail(path)
        assert tail.last_lines(count) == expected
        assert tail.partial == b"thr"
    append(path, b"ee\n")
    assert tail.read_new() == [b"three"]
    assert tail.take_notices() == []


NO_NEWLINE = st.binary(max_size=8).map(lambda raw: raw.replace(b"\n", b""))


@given(st.lists(NO_NEWLINE, max_size=30), NO_NEWLINE, st.integers(0, 40))
def test_reading_backwards_gives_the_last_whole_lines(lines: list[bytes], partial: bytes, count: int) -> None:
    data = b"".join(line + b"\n" for line in lines) + partial
    handle = os.memfd_create("lines")
    try:
        os.write(handle, data)
        with mock.patch.object(open_log, "BLOCK", 7):
            start, found = open_log.lines_before(handle, len(data), count, 10**6)
    finally:
        os.close(handle)
    assert found == data[start:]
    assert found == b"".join(line + b"\n" for line in lines[len(lines) - min(count, len(lines)) :]) + partial


@settings(max_examples=30, deadline=None)
@given(st.lists(st.binary(max_size=12), max_size=20))
def test_any_way_of_writing_gives_the_same_lines(tmp_path_factory: pytest.TempPathFactory, writes: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("tail") / "log"
    tail = FileTail(path)
    lines: list[bytes] = []
    for piece in writes:
        append(path, piece)
        lines += drained(tail)
    lines += tail.finish()
    whole = b"".join(writes)
    expected = whole.split(b"\n")
    assert lines == (expected if expected[-1] else expected[:-1])


def test_no_line_lost_and_none_twice_while_a_process_appends(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    script = (
        "import random, sys\n"
        "with open(sys.argv[1], 'ab', buffering=0) as stream:\n"
        "    data = b''.join(b'line %d\\n' % n for n in range(20000))\n"
        "    while data:\n"
        "        size = random.randint(1, 3000)\n"
        "        stream.write(data[:size]); data = data[size:]\n"
    )
    tail = FileTail(path)
    writer = subprocess.Popen([sys.executable, "-c", script, str(path)])
    lines: list[bytes] = []
    while writer.poll() is None:
        lines += tail.read_new(10_000)
        time.sleep(0.001)
    assert lines + drained(tail) == numbered(0, 20_000)
    assert tail.take_notices() == []


def test_no_line_lost_and_none_twice_while_the_file_is_rotated(tmp_path: Path) -> None:
    path = tmp_path / "job.out"

    def rotate() -> None:
        number = 0
        for turn in range(20):
            with path.open("ab", buffering=0) as stream:
                for _ in range(200):
                    stream.write(b"line %d\n" % number)
                    number += 1
            path.rename(tmp_path / f"job.out.{turn}")
        path.write_bytes(b"line %d\n" % number)

    tail = FileTail(path)
    path.touch()
    tail.read_new()
    lines = follow(tail, rotate)
    seen = [int(line.split()[1]) for line in lines]
    assert len(seen) == len(set(seen)), "a line came twice"
    # Whole files that came and went between two looks cannot be seen by anybody; every other line must be there.
    for turn in range(21):
        of_file = range(turn * 200, min(turn * 200 + 200, 4001))
        assert len(set(of_file) & set(seen)) in (0, len(of_file))
    assert 4000 in seen


def test_line_written_to_a_rotated_file_late_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    writer = path.open("ab", buffering=0)
    writer.write(b"one\n")
    tail = FileTail(path)
    assert tail.read_new() == [b"one"]
    path.rename(tmp_path / "job.out.1")
    append(path, b"new file\n")
    assert tail.read_new() == [b"new file"]
    writer.write(b"late\n")
    writer.close()
    append(path, b"more\n")
    assert tail.read_new() == [b"late", b"more"]
    assert tail.take_notices() == ["job.out was replaced by a new file."]


def test_unfinished_line_of_a_rotated_file_is_given_out(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    append(path, b"whole\nno newline")
    tail = FileTail(path)
    assert tail.read_new() == [b"whole"]
    path.rename(tmp_path / "job.out.1")
    append(path, b"new\n")
    assert tail.read_new() == [b"no newline", b"new"]


def test_removed_and_made_again(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    append(path, b"one\n")
    tail = FileTail(path)
    assert tail.read_new() == [b"one"]
    append(path, b"last words\n")
    path.unlink()
    assert tail.read_new() == [b"last words"]
    assert "has been removed" in tail.problem
    append(path, b"two\n")
    assert tail.read_new() == [b"two"]
    assert tail.problem == ""


@pytest.mark.parametrize("content", [b"", b"new\n", b"new content, longer than what was there before\n" * 3])
def test_emptied_file_is_read_from_its_beginning(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "job.out"
    append(path, b"one\ntwo\n")
    tail = FileTail(path)
    assert tail.read_new() == [b"one", b"two"]
    path.write_bytes(content)  # in place: same inode
    lines = tail.read_new()
    assert b"".join(line + b"\n" for line in lines) == content
    assert tail.take_notices() == ["job.out was emptied and begins anew."]
    append(path, b"more\n")
    assert tail.read_new() == [b"more"]


def test_writer_that_goes_on_at_its_old_place_after_truncation_leaves_no_nuls(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    with path.open("wb", buffering=0) as writer:
        writer.write(b"x" * 99_999 + b"\n")
        tail = FileTail(path)
        assert len(drained(tail)) == 2  # a line longer than the limit comes in pieces
        os.truncate(path, 0)
        writer.write(b"after\n")
        assert tail.read_new() == [b"after"]
        writer.write(b"more\n")
        assert tail.read_new() == [b"more"]


def test_resting_gives_the_handle_back_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    append(path, b"one\npart")
    tail = FileTail(path)
    tail.last_lines(10)
    assert tail.open
    tail.rest()
    assert not tail.open
    assert tail.read_new() == []
    assert not tail.open, "an unchanged file need not be opened"
    append(path, b"ial\n")
    assert tail.read_new() == [b"partial"]
    tail.rest()
    path.write_bytes(b"anew\n")
    assert tail.read_new() == [b"anew"]
    tail.rest()
    path.unlink()
    append(path, b"again\n")
    assert tail.read_new() == [b"again"]


def test_file_that_comes_later_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "jobs" / "7.out"
    tail = FileTail(path)
    assert tail.last_lines(10) == []
    assert "nor is its folder" in tail.problem
    path.parent.mkdir()
    assert tail.read_new() == []
    assert tail.problem == f"{path} is not there yet."
    append(path, b"first\n")
    assert tail.read_new() == [b"first"]
    assert tail.problem == ""


def test_what_is_no_file_is_said(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path, words in [
        (Path(os.devnull), "nothing of it is kept"),
        (tmp_path, "is a folder"),
        (fifo, "not a regular"),
    ]:
        tail = FileTail(path)
        assert tail.last_lines(5) == []
        assert tail.read_new() == []
        assert words in tail.problem


def test_forbidden_is_not_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "job.out"
    append(path, b"secret\n")
    tail = FileTail(path)

    def refuse(*_arguments: object) -> int:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", refuse)  # root may read everything: a real chmod proves nothing here
    assert tail.read_new() == []
    assert tail.problem == f"{path} may not be read: permission denied."
    monkeypatch.undo()
    assert tail.read_new() == [b"secret"]
    assert tail.problem == ""


def test_huge_file_opens_at_its_end_at_once(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as stream:
        stream.truncate(10 * 1024**3)
        stream.seek(0, os.SEEK_END)
        stream.write(b"\n" + b"".join(line + b"\n" for line in numbered(0, 5000)))
    tail = FileTail(path)
    started = time.thread_time()
    assert tail.last_lines(1000) == numbered(4000, 5000)
    assert time.thread_time() - started < 0.1


def test_burst_is_read_in_bounded_pieces(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    tail = FileTail(path)
    append(path, b"".join(line + b"\n" for line in numbered(0, 200_000)))
    first = tail.read_new(100_000)
    assert tail.behind
    assert sum(map(len, first)) <= 100_000
    assert first + drained(tail) == numbered(0, 200_000)
    assert not tail.behind


def test_hours_of_a_progress_bar_stay_one_short_line(tmp_path: Path) -> None:
    path = tmp_path / "job.err"
    tail = FileTail(path)
    for percent in range(100):
        append(path, b"".join(b"\r%3d%% %d" % (percent, step) for step in range(2000)))
        assert tail.read_new() == []
        assert len(tail.partial) < 2000
    assert tail.partial.rpartition(b"\r")[2].startswith(b" 99%")
    append(path, b"\rdone\n")
    assert tail.read_new()[0].endswith(b"\rdone")


def test_line_without_end_comes_in_pieces_and_memory_stays_bounded(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    tail = FileTail(path)
    pieces: list[bytes] = []
    for _ in range(50):
        append(path, b"x" * 10_000)
        pieces += tail.read_new()
        assert len(tail.partial) <= LONGEST_LINE
    assert b"".join(pieces + tail.finish()) == b"x" * 500_000
