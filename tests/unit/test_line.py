"""A terminal that is gone is seen to be."""

from __future__ import annotations

import os

from slurmtui.views.line import Line


def test_a_terminal_is_gone_when_its_other_end_is() -> None:
    other, terminal = os.openpty()
    line = Line(terminal)
    assert not line.gone
    os.write(other, b"typed")
    assert not line.gone
    os.close(other)
    assert line.gone
    os.close(terminal)


def test_what_was_no_terminal_is_not_gone() -> None:
    reading, writing = os.pipe()
    line = Line(reading)
    os.close(writing)
    assert not line.gone
    os.close(reading)
