"""Prefect's times (RFC 3339, any number of fraction digits, ``Z`` or an offset) to seconds since the epoch and back."""

from __future__ import annotations

import datetime as dt

import msgspec


def to_epoch(text: str | None) -> float | None:
    """Seconds since the epoch; None for what is missing or no time. Without a zone UTC is meant."""
    if not text:
        return None
    try:
        moment = msgspec.convert(text, type=dt.datetime)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=dt.timezone.utc)
        return moment.timestamp()
    except (msgspec.ValidationError, ValueError, OverflowError):
        return None


def to_text(epoch: float) -> str:
    """The time as Prefect reads it, in UTC with microseconds."""
    return dt.datetime.fromtimestamp(epoch, dt.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
