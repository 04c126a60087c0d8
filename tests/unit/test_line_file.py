"""Lines anywhere in a file, their numbers, and searching it: the same as reading the whole file would give."""

from __future__ import annotations

import os
import re
import threading
import time
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmtui.sources.files import line_file, line_index, search
from slurmtui.sources.files.line_index import LineIndex
from slurmtui.sources.files.needle import Needle
from slurmtui.sources.files.search import Hits, Until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GO_ON = threading.Event()  # never set
ALWAYS = Until()
LINES = st.lists(st.binary(max_size=12).map(lambda raw: raw.replace(b"\n", b"")), max_size=40)


@pytest.fixture
def handle(tmp_path: Path) -> Iterator[int]:
    number = os.open(tmp_path / "log", os.O_RDWR | os.O_CREAT)
    yield number
    os.close(number)


def file_of(data: bytes) -> int:
    number = os.memfd_create("log")
    os.write(number, data)
    return number


def joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def places(lines: list[bytes]) -> list[int]:
    found, place = [], 0
    for line in lines:
        found.append(place)
        place += len(line) + 1
    return found


@settings(max_examples=60, deadline=None)
@given(LINES, st.integers(1, 10))
def test_going_forwards_and_backwards_gives_every_line_once(lines: list[bytes], count: int) -> None:
    number = file_of(joined(lines) + b"not whole")
    size = len(joined(lines))
    with mock.patch.object(line_file, "BLOCK", 5):
        forwards: list[bytes] = []
        starts: list[int] = []
        place = 0
        while (found := line_file.after(number, place, count, size + 9)).texts:
            forwards += found.texts
            starts += found.starts
            place = found.end
        assert (forwards, starts, place) == (lines, places(lines), size)
        backwards: list[bytes] = []
        while (found := line_file.before(number, place, count)).texts:
            backwards[:0] = found.texts
            assert found.end == place
            place = found.begin
        assert (backwards, place) == (lines, 0)
    os.close(number)


def test_line_longer_than_any_budget_is_given_in_pieces(handle: int) -> None:
    data = b"first\n" + b"x" * 5_000_000 + b"\nlast\n"
    os.write(handle, data)
    pieces: list[bytes] = []
    place = len(data)
    while (found := line_file.before(handle, place, 100)).begin < place:
        pieces[:0] = found.texts
        place = found.begin
    assert pieces[0] == b"first"
    assert pieces[-1] == b"last"
    assert sum(map(len, pieces)) == 5_000_000 + len("firstlast")
    assert max(map(len, pieces)) <= 64 * 1024
    there = line_file.after(handle, 0, 100, len(data))
    assert there.texts[0] == b"first"
    assert line_file.after(handle, there.end, 100, len(data)).end > 1_000_000


def test_start_of_a_line_is_found_from_within(handle: int) -> None:
    os.write(handle, b"one\ntwo\nthree\n")
    assert [line_file.line_start(handle, place) for place in (0, 3, 4, 6, 8, 13, 14)] == [0, 0, 4, 4, 8, 8, 14]


@settings(max_examples=60, deadline=None)
@given(LINES, st.integers(0, 400))
def test_numbers_of_lines_are_those_of_the_whole_file(lines: list[bytes], cut: int) -> None:
    data = joined(lines)
    number = file_of(data)
    with mock.patch.object(line_index, "BLOCK", 16):
        index = LineIndex()
        assert index.extend(number, min(cut, len(data)), GO_ON)
        assert index.extend(number, len(data), GO_ON)
        assert index.newlines == len(lines)
        for order, place in enumerate(places(lines), 1):
            assert index.line_at(number, place) == order
            assert index.place_of(number, order) == place
        assert index.place_of(number, len(lines) + 2) is None
    os.close(number)


def test_index_of_a_file_with_holes_reads_none_of_them(handle: int) -> None:
    os.truncate(handle, 20 * 1024**3)
    os.pwrite(handle, b"\nend\n", 20 * 1024**3)
    index = LineIndex()
    started = time.thread_time()
    assert index.extend(handle, 20 * 1024**3 + 5, GO_ON)
    assert time.thread_time() - started < 2
    assert index.newlines == 2
    assert index.line_at(handle, 20 * 1024**3 + 1) == 2
    assert index.place_of(handle, 2) == 20 * 1024**3 + 1


def test_index_stops_when_it_is_told_and_begins_anew_in_an_emptied_file(handle: int) -> None:
    os.write(handle, b"a\n" * 10)
    index = LineIndex()
    stop = threading.Event()
    stop.set()
    assert not index.extend(handle, 20, stop)
    assert index.line_at(handle, 4) is None
    assert index.extend(handle, 20, GO_ON)
    os.truncate(handle, 0)
    os.pwrite(handle, b"b\n", 0)
    assert index.extend(handle, 2, GO_ON)
    assert index.newlines == 1


WORDS = st.lists(st.sampled_from([b"alpha", b"Beta", b"", b"gamma ray", b"ALPHA beta", b"x" * 30]), max_size=30)


@settings(max_examples=80, deadline=None)
@given(WORDS, st.sampled_from(["alpha", "Alpha", "beta", "a.*b", "^g", "x{3}", "a$", r"\s", "zzz", "x*"]), st.data())
def test_search_finds_what_looking_at_each_line_finds(lines: list[bytes], text: str, data: st.DataObject) -> None:
    number = file_of(joined(lines))
    size = len(joined(lines))
    needle = Needle(text)
    matches = needle.pattern.matches
    expected = [place for place, line in zip(places(lines), lines, strict=True) if matches(line.decode())]
    with mock.patch.object(search, "BLOCK", 16):
        hits = Hits(needle)
        assert hits.extend(number, size, ALWAYS)
        assert hits.total == len(expected)
        for order, place in enumerate(expected, 1):
            assert hits.number_of(number, place) == order
        start = data.draw(st.sampled_from([*places(lines), size]))
        later = [place for place in expected if place >= start]
        earlier = [place for place in expected if place < start]
        assert search.find_after(number, start, size, needle, ALWAYS) == (later[0] if later else None)
        assert search.find_before(number, start, needle, ALWAYS) == (earlier[-1] if earlier else None)
        count = data.draw(st.integers(1, 5))
        found = search.matching_before(number, start, needle, count, ALWAYS)
        assert found.starts == earlier[-count:]
        more = search.matching_before(number, found.begin, needle, 100, ALWAYS)
        assert more.starts + found.starts == earlier
        ahead = search.matching_after(number, start, size, needle, count, ALWAYS)
        assert ahead.starts == later[:count]
        rest = search.matching_after(number, ahead.end, size, needle, 100, ALWAYS)
        assert ahead.starts + rest.starts == later
    os.close(number)


def test_lower_case_finds_capitals_and_capitals_only_themselves() -> None:
    data = b"An Error\nan error\nERROR: x\n"
    assert Needle("error").lines(data, 0, len(data)) == [0, 9, 18]
    assert Needle("Error").lines(data, 0, len(data)) == [0]
    assert Needle("e[r]+or").lines(data, 0, len(data)) == [0, 9, 18]


def test_any_of_several_words_verified() -> None:
    needle = Needle("errors", words=["NCCL", "Traceback"], verify=r"NCCL (WARN|error)|^Traceback")
    data = b"NCCL INFO fine\nNCCL WARN bad\n a Traceback\nTraceback (most\n"
    assert [data[start:].split(b"\n")[0] for start in needle.lines(data, 0, len(data))] == [
        b"NCCL WARN bad",
        b"Traceback (most",
    ]


def test_what_is_no_expression_is_refused() -> None:
    with pytest.raises(re.error):
        Needle("a(b")


def test_marks_lie_where_the_matches_are(handle: int) -> None:
    os.write(handle, b"".join(b"hit\n" if number in (0, 500, 999) else b"...\n" for number in range(1000)))
    hits = Hits(Needle("hit"))
    hits.extend(handle, 4000, ALWAYS)
    assert hits.marks(4000, 10) == {0, 5, 9}
    with mock.patch.object(search, "_KEPT_STARTS", 1), mock.patch.object(search, "BLOCK", 400):
        hits = Hits(Needle("hit"))
        hits.extend(handle, 4000, ALWAYS)
        assert hits.marks(4000, 10) == {0, 5, 9}
        assert hits.number_of(handle, 3996) == 3


def test_search_of_many_megabytes_can_be_stopped(handle: int, monkeypatch: pytest.MonkeyPatch) -> None:
    os.truncate(handle, 0)
    line = b"nothing to be found here, and that many times over\n" * 20_000
    for _ in range(60):
        os.write(handle, line)
    stop, pread, blocks = threading.Event(), os.pread, list[int]()

    def stopped_at_the_third(*arguments: int) -> bytes:
        blocks.append(1)
        if len(blocks) == 3:
            stop.set()
        return pread(*arguments)

    monkeypatch.setattr(os, "pread", stopped_at_the_third)
    hits = Hits(Needle("not .* there"))
    thread = threading.Thread(target=hits.extend, args=(handle, 60 * len(line), Until(stop)))
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert 0 < hits.covered < 60 * len(line)
