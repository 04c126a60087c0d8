"""How a job ended, in words."""

from __future__ import annotations

from slurmtui.models.exit_words import code_words, had_no_output, signal_words


def test_the_code_of_an_output_that_could_not_be_opened_is_explained() -> None:
    means = "output could not be opened"
    assert [signal_words(53), signal_words(9)] == [f"signal 53 ({means})", "signal 9"]
    assert [code_words("0:53"), code_words("53:0"), code_words("")] == [f"0:53 ({means})", "53:0", ""]
    assert [had_no_output(code) for code in ("0:53", "53:0", "53", "0:9", "", "0:x")] == [True, *[False] * 5]
