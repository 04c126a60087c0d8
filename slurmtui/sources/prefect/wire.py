"""Prefect's JSON as private structs, and the way from them to facts.

Unknown fields are passed over and missing ones have a default: the server may be older or newer than the one this was
written against. A row that still cannot be understood is left out and counted; it does not take the others with it.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from slurmtui.models.flow_run import FlowRun, LogLine, TaskRun
from slurmtui.sources.prefect.times import to_epoch

Row = TypeVar("Row", bound=msgspec.Struct)


class WireState(msgspec.Struct):
    """A state; ``data`` is kept raw, it is looked at for a result's file only."""

    type: str = ""
    name: str | None = None
    message: str | None = None
    timestamp: str | None = None
    data: msgspec.Raw = msgspec.Raw(b"null")


class WireFlowRun(msgspec.Struct):
    """A row of /flow_runs/filter."""

    id: str
    name: str | None = None
    flow_id: str | None = None
    created: str | None = None
    deployment_id: str | None = None
    parameters: dict[str, Any] | None = None
    tags: list[str] | None = None
    labels: dict[str, Any] | None = None
    parent_task_run_id: str | None = None
    state_type: str | None = None
    state_name: str | None = None
    run_count: int | None = None
    expected_start_time: str | None = None
    start_time: str | None = None
    end_time: str | None = None
    total_run_time: float | None = None
    auto_scheduled: bool | None = None
    state: WireState | None = None

    def fact(self, flow_names: dict[str, str]) -> FlowRun:
        """The row as the program uses it."""
        state = self.state or WireState()
        return FlowRun(
            id=self.id,
            name=self.name or "",
            flow_id=self.flow_id or "",
            flow_name=flow_names.get(self.flow_id or "", ""),
            state_type=self.state_type or state.type,
            state_name=self.state_name or state.name or "",
            state_message=state.message or "",
            state_since=to_epoch(state.timestamp),
            parameters=self.parameters or {},
            tags=tuple(self.tags or ()),
            labels=self.labels or {},
            run_count=self.run_count or 0,
            created=to_epoch(self.created),
            expected_start=to_epoch(self.expected_start_time),
            start=to_epoch(self.start_time),
            end=to_epoch(self.end_time),
            run_time=self.total_run_time,
            deployment_id=self.deployment_id,
            parent_task_run_id=self.parent_task_run_id,
        )


class WireTaskRun(msgspec.Struct):
    """A row of /task_runs/filter."""

    id: str
    name: str | None = None
    flow_run_id: str | None = None
    task_key: str | None = None
    state_type: str | None = None
    state_name: str | None = None
    run_count: int | None = None
    flow_run_run_count: int | None = None
    expected_start_time: str | None = None
    start_time: str | None = None
    end_time: str | None = None
    state: WireState | None = None

    def fact(self) -> TaskRun:
        """The row as the program uses it."""
        state = self.state or WireState()
        return TaskRun(
            id=self.id,
            name=self.name or "",
            flow_run_id=self.flow_run_id or "",
            task_key=self.task_key or "",
            state_type=self.state_type or state.type,
            state_name=self.state_name or state.name or "",
            state_message=state.message or "",
            run_count=self.run_count or 0,
            attempt=self.flow_run_run_count or 0,
            start=to_epoch(self.start_time),
            end=to_epoch(self.end_time),
            result_file=_result_file(state.data),
        )


class WireLog(msgspec.Struct):
    """A row of /logs/filter."""

    id: str = ""
    name: str | None = None
    level: int | None = None
    message: str | None = None
    timestamp: str | None = None
    task_run_id: str | None = None

    def fact(self) -> LogLine:
        """The row as the program uses it."""
        return LogLine(
            id=self.id,
            timestamp=to_epoch(self.timestamp) or 0.0,
            level=self.level or 0,
            message=self.message or "",
            logger=self.name or "",
            task_run_id=self.task_run_id,
        )


class WireFlow(msgspec.Struct):
    """A flow: its name stands nowhere else."""

    id: str
    name: str | None = None


class _ResultData(msgspec.Struct):
    storage_key: str | None = None


def decode_rows(content: bytes, kind: type[Row]) -> tuple[list[Row], tuple[int, ...], int]:
    """The rows of a list, the places of those that could not be understood, and how many there were in all.

    Raises:
        msgspec.MsgspecError: it is no list, or no JSON (an answer cut in the middle).
    """
    try:
        rows = msgspec.json.decode(content, type=list[kind])  # type: ignore[valid-type]
    except msgspec.ValidationError:
        tried = [_one(raw, kind) for raw in msgspec.json.decode(content, type=list[msgspec.Raw])]
        odd = tuple(place for place, row in enumerate(tried) if row is None)
        return [row for row in tried if row is not None], odd, len(tried)
    return rows, (), len(rows)


def _one(raw: msgspec.Raw, kind: type[Row]) -> Row | None:
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError:
        return None


def _result_file(data: msgspec.Raw) -> str | None:
    """The file of a kept result: Prefect's record of it stands in the state's data."""
    try:
        return msgspec.json.decode(data, type=_ResultData).storage_key
    except msgspec.MsgspecError:
        return None  # null, or a form of data that keeps no file
