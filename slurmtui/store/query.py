"""The filter language of the lists of runs and jobs.

=================== ===================================================================================================
``otter gpu``       words: all must be somewhere in the row, whatever their case; ``"two words"`` as one
``!debug``          must not be there; ``!`` may stand before every other form as well
``state:pd,r``      text of a field: one of these is in it (states by code, or by the beginning of a name)
``user=alice``      one of these is the whole field; ``user!=alice`` is not
``cpus>8 time<2h``  numbers: ``>`` ``<`` ``>=`` ``<=`` ``=``; durations ``90s 2h 1-00:00``, memory ``4G``
``/fit-[0-9]+$/``   a regular expression, in any column; ``name:/^fit-/`` in a field, ``name=/fit-./`` for all of it
=================== ===================================================================================================

A word with a ``:`` whose beginning is no field's name is a word.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Literal

from slurmtui.errors import PatternTooSlow
from slurmtui.store import query_jobs, query_runs
from slurmtui.store.query_terms import LIST_SECONDS, QueryError, Term, check_patience, in_time, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from slurmtui.models.job_table import JobTable
    from slurmtui.models.run_view import RunView

__all__ = ["Filter", "QueryError", "filter_jobs", "filter_runs", "matches"]


class Filter:
    """A filter as it is typed: keeps the last good query while the newest text is wrong.

    ``kind`` says whose fields may be named; without it those of either list, and the list that does not have the field
    keeps its last good query. That a regular expression takes too long is found only when it is used: then the last
    filter that proved to be of use is in force again, ``error`` says why, and ``refused`` is called.
    """

    def __init__(self, kind: Literal["jobs", "runs"] | None = None) -> None:
        self.text = ""
        self.error = ""
        self.refused: Callable[[], object] = lambda: None
        self._proved = ""
        self._kind = kind
        self._good = {"jobs": "", "runs": ""}

    def set(self, text: str) -> bool:
        """Take ``text``; False (and ``error`` says why) when it is wrong and the last good one stays in force."""
        errors = {"jobs": error_in(_job_terms, text), "runs": error_in(_run_terms, text)}
        if self._kind is not None:
            self.error = errors[self._kind]
        else:
            self.error = errors["jobs"] if all(errors.values()) else ""
        if not self.error:
            self.text = text
            self._good.update({kind: text for kind, error in errors.items() if not error})
        return not self.error

    def proved(self, text: str) -> None:
        """A list was sifted with this filter."""
        self._proved = text

    def refuse(self, text: str, error: PatternTooSlow) -> None:
        """This filter takes too long: go back to the last one that did not, unless another is in force by now."""
        if text != self.text:
            return
        if not self.set(self._proved):
            self.set("")
        self.error = str(error)
        self.refused()

    def jobs(self, table: JobTable, user: str | None = None, run_of_job: Mapping[str, str] | None = None) -> list[int]:
        """Rows of ``table`` that match; see ``filter_jobs``."""
        return filter_jobs(table, self._good["jobs"], user, run_of_job)

    def runs(self, views: Sequence[RunView]) -> list[RunView]:
        """The runs that match; all that match the last filter of use when this one takes too long."""
        text = self._good["runs"]
        try:
            found = filter_runs(views, text)
        except PatternTooSlow as error:
            self.refuse(self.text, error)
            return filter_runs(views, self._proved)
        self._proved = text
        return found


def error_in(terms: Callable[[str], tuple[Term, ...]], text: str) -> str:
    """What is wrong with a text, of which ``terms`` makes terms; "" when nothing is."""
    try:
        check_patience(terms(text))
    except QueryError as error:
        return str(error)
    return ""


def filter_jobs(
    table: JobTable, text: str, user: str | None = None, run_of_job: Mapping[str, str] | None = None
) -> list[int]:
    """Indexes of the rows of ``table`` that match ``text``, in the table's order.

    Args:
        table: the queue.
        text: the filter.
        user: keep the jobs of this user only.
        run_of_job: by job id, what ``run:`` and words may match beside the job's own text (id and name of its run).

    Raises:
        QueryError: the text cannot be understood.
        PatternTooSlow: a regular expression takes too long.
    """
    return query_jobs.filter_rows(table, _job_terms(text), user, run_of_job)


def filter_runs(views: Iterable[RunView], text: str) -> list[RunView]:
    """The runs that match ``text``, in their order.

    Raises:
        QueryError: the text cannot be understood.
        PatternTooSlow: a regular expression takes too long.
    """
    terms = in_time(_run_terms(text), LIST_SECONDS)
    return [view for view in views if query_runs.fulfils(view, terms)]


def matches(view: RunView, text: str) -> bool:
    """Whether one run matches ``text``.

    Raises:
        QueryError: the text cannot be understood.
        PatternTooSlow: a regular expression takes too long.
    """
    return query_runs.fulfils(view, in_time(_run_terms(text), LIST_SECONDS))


@functools.lru_cache(maxsize=64)
def _job_terms(text: str) -> tuple[Term, ...]:
    return parse(text, query_jobs.GRAMMAR)


@functools.lru_cache(maxsize=64)
def _run_terms(text: str) -> tuple[Term, ...]:
    return parse(text, query_runs.GRAMMAR)
