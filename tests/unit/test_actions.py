"""The registry: no key twice in one place, mutating keys are capitals, the page of keys is the registry's."""

from __future__ import annotations

from pathlib import Path

import pytest

from slurmtui.actions import registry


@pytest.mark.parametrize("place", ["runs", "jobs"])
def test_no_key_stands_twice_in_a_place(place: str) -> None:
    keys = [key for action in registry.at(place) for key in (action.key, *action.aliases)]
    assert sorted(keys) == sorted(set(keys))


def test_lower_case_looks_and_upper_case_touches() -> None:
    as_in_vi = {"log.previous"}  # N goes back through matches, everywhere in the world
    for action in registry.ACTIONS:
        if action.id in as_in_vi:
            continue
        assert action.touches == (len(action.key) == 1 and action.key.isupper()), action.id


def test_the_page_of_keys_is_up_to_date() -> None:
    page = Path(__file__).parents[2] / "docs" / "keys.md"
    assert page.read_text(encoding="utf-8") == registry.keys_page(), (
        "run: python -m slurmtui.actions.registry > docs/keys.md"
    )
