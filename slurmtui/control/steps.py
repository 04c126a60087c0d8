"""Keeps the steps of an action and tells whoever watches about each change."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.steps import Step

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Steps:
    """The steps in their order, with the time each took."""

    def __init__(self, titles: Mapping[str, str], progress: Callable[[Step], None] | None = None) -> None:
        self._steps = {key: Step(key=key, title=title) for key, title in titles.items()}
        self._begun: dict[str, float] = {}
        self._progress = progress
        for step in self._steps.values():
            self._tell(step)

    def __getitem__(self, key: str) -> Step:
        return self._steps[key]

    @property
    def all(self) -> tuple[Step, ...]:
        """Every step as it stands."""
        return tuple(self._steps.values())

    @property
    def failed(self) -> bool:
        """Whether a step failed."""
        return any(step.state == "failed" for step in self._steps.values())

    def begin(self, key: str, detail: str = "") -> None:
        """The step is being done."""
        self._begun[key] = time.perf_counter()
        self._change(key, "doing", detail)

    def say(self, key: str, detail: str) -> None:
        """What the step is about just now."""
        if self._steps[key].detail != detail:
            self._change(key, "doing", detail)

    def done(self, key: str, detail: str = "") -> None:
        """The step did what it should."""
        self._change(key, "done", detail)

    def failed_with(self, key: str, detail: str) -> None:
        """The step did not do what it should."""
        self._change(key, "failed", detail)

    def skip(self, key: str, detail: str) -> None:
        """There is nothing to do in this step."""
        self._change(key, "skipped", detail)

    def _change(self, key: str, state: str, detail: str) -> None:
        begun = self._begun.get(key)
        seconds = time.perf_counter() - begun if begun is not None else 0.0
        self._steps[key] = msgspec.structs.replace(self._steps[key], state=state, detail=detail, seconds=seconds)
        self._tell(self._steps[key])

    def _tell(self, step: Step) -> None:
        if self._progress is not None:
            self._progress(step)
