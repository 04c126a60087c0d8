"""What the form of a new run says fits its terminal, and is whole where it matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slurmtui.models.profile import Profile
from slurmtui.views.newrun import screen as newrun
from slurmtui.views.newrun.lists import profiles
from slurmtui.views.newrun.steps import STEPS, step_keys
from slurmtui.views.newrun.work import Draft
from slurmtui.widgets.form import Field
from tests.ui.seeing import see, until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Make

NO_MODULE = "/home/alice/a/rather/long/path/to/flows/train.py does not import: ModuleNotFoundError: No module named"


@pytest.mark.parametrize("size", [(160, 48), (80, 24), (40, 24)])
@pytest.mark.parametrize("middle", [1, 30])
async def test_messages_wrap_and_end_visibly(make_console: Make, size: tuple[int, int], middle: int) -> None:
    async with make_console().run_test(size=size) as pilot:
        await see(pilot, "brave-otter")
        screen = newrun.NewRunScreen()
        await pilot.app.push_screen(screen)
        screen._say("short")
        await see(pilot, "short")
        screen._say(f"{NO_MODULE * middle} 'the_module_that_is_missing'", wrong=True)
        await see(pilot, "/home/alice/a/rather", "'the_module_that_is_missing'", "leave")
        assert screen._said.size.height <= 8
        screen._say("")
        await until(pilot, lambda: screen._said.size.height <= 1)


@pytest.mark.parametrize("step", STEPS)
def test_the_keys_always_tell_how_to_leave(step: str) -> None:
    for width in (160, 80, 40):
        told = "".join(text for text, _ in step_keys(step, width)).rstrip()
        assert told.endswith("esc leave" if step == "what" else "esc back")
        assert len(told) < width


async def test_the_help_of_a_parameter_is_whole_and_apart_from_its_type(make_console: Make) -> None:
    fields = (
        Field("lr", "number", "0.1", help="the learning rate, above 0 and below 1."),
        Field("optimizer", "string", "sgd", ("sgd", "momentum"), "how a step is made from the slope."),
        Field("seed", "integer"),
    )
    async with make_console().run_test(size=(80, 24)) as pilot:
        await see(pilot, "brave-otter")
        screen = newrun.NewRunScreen()
        await pilot.app.push_screen(screen)
        await screen._form.set_fields(fields, "")
        screen._show("parameters")
        text = await see(pilot, "number · the learning rate", "esc back")
        told = " ".join(" ".join(line[42:].split()) for line in text.splitlines())
        assert "number · the learning rate, above 0 and below 1." in told
        assert "string (sgd, momentum) · how a step is made from the slope." in told
        assert "integer" in told
        assert "integer ·" not in told


async def test_a_typed_path_is_not_called_missing(make_console: Make, tmp_path: Path) -> None:
    file = tmp_path / "other.py"
    file.write_text("import no_such_module\n")
    async with make_console().run_test(size=(80, 24)) as pilot:
        await see(pilot, "brave-otter")
        screen = newrun.NewRunScreen()
        await pilot.app.push_screen(screen)
        screen._path.value = str(file)
        text = await see(pilot, "enter takes it for the path of a file")
        assert "No flow file found" not in text


def test_one_core_is_one(make_console: Make) -> None:
    config = make_console().session.config
    config.profiles["small"] = Profile(name="small", cores=1, memory="1G")
    config.profiles["large"] = Profile(name="large", cores=2, memory="1G")
    source = profiles(config, Draft())
    told = [str(source.cells(index)) for index in range(len(source))]
    assert any("1 core, 1G" in cells for cells in told)
    assert any("2 cores, 1G" in cells for cells in told)
