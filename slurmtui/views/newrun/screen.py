"""A new run, in four steps: what, profile, parameters, a last look. What was entered stays until it is submitted."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import ContentSwitcher, Input, Static

from slurmtui.control.preflight import ALWAYS, NEVER
from slurmtui.control.submit import NO_PROFILE
from slurmtui.models.text import visible
from slurmtui.views.newrun import lists
from slurmtui.views.newrun.found import Candidate, candidates, recent_files, typed_file
from slurmtui.views.newrun.steps import said_pieces, step_before, step_keys, title_pieces
from slurmtui.views.newrun.work import Draft, fields_of, inspect, look, submit
from slurmtui.widgets.bar import Bar
from slurmtui.widgets.beside import start
from slurmtui.widgets.form import Form
from slurmtui.widgets.keys_in_turn import KeysInTurn
from slurmtui.widgets.line_input import LineInput
from slurmtui.widgets.virtual_table import VirtualTable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual import events
    from textual.app import ComposeResult

    from slurmtui.app import SlurmtuiApp

_LOOKING = "rendering the job script and asking SLURM…"


class NewRunScreen(KeysInTurn[None]):
    """Choose a flow file and a profile, fill in the parameters, see the job script, submit."""

    CSS_PATH = "newrun.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back"),
        Binding("ctrl+n", "next", "next", priority=True),
        Binding("y", "submit", "submit"),
        Binding("p", "probe", "probe"),
        Binding("down", "move(1)", "down", show=False),
        Binding("up", "move(-1)", "up", show=False),
    ]

    def __init__(self, draft: Draft | None = None) -> None:
        super().__init__()
        self.draft = draft or Draft()
        self._step = "what"
        self._files: list[Candidate] = []
        self._busy = False
        self._submitting = False
        self._left = False
        self._left_for: tuple[str, str] | None = None  # the view and row to go to when it has been submitted
        self._title, self._keys, self._said = Bar(id="title"), Bar(id="keys"), Bar(id="said")
        self._path = LineInput(placeholder="flow file or batch script", id="path", select_on_focus=False)
        self._found = VirtualTable(lists.FILE_COLUMNS, id="found")
        self._profiles = VirtualTable(lists.PROFILE_COLUMNS, id="profiles")
        self._form = Form(id="form")
        self._script = Static("", id="script", markup=False)

    @property
    def console(self) -> SlurmtuiApp:
        """The app, typed."""
        return cast("SlurmtuiApp", self.app)

    def compose(self) -> ComposeResult:
        """The title with the steps, the step, what was said, the keys."""
        yield self._title
        with ContentSwitcher(initial="what", id="steps"):
            with VerticalScroll(id="what", can_focus=False):
                yield self._path
                yield self._found
            with VerticalScroll(id="profile", can_focus=False):
                yield self._profiles
            with VerticalScroll(id="parameters", can_focus=False):
                yield self._form
            with VerticalScroll(id="submit"):
                yield self._script
        yield self._said
        yield self._keys

    async def on_mount(self) -> None:
        """Look for files while the person begins to type."""
        self._show("what")
        if self.draft.target:
            self._do("reading the file…", partial(self._inspect, self.draft.target))
        start(self, self._search, "files")

    async def _search(self) -> None:
        recent = recent_files(self.console.store.snapshot.records.data.values())
        folders = self.console.session.config.flows or (str(Path.cwd()),)
        self._files = await asyncio.to_thread(candidates, folders, recent)
        self._sift()

    def _sift(self) -> None:
        source = lists.files(self._files, self._path.value)
        self._found.empty_text = lists.NO_MATCH if self._path.value.strip() else lists.NO_FILE
        self._found.set_source(source, index_of=source.index_of)

    # --- the steps

    def _show(self, step: str) -> None:
        self._step = step
        self.query_one("#steps", ContentSwitcher).current = step
        self._title.show(title_pieces(self.draft, step))
        self._keys.show(step_keys(step, self.app.size.width))
        if step == "what":  # the focus moves at once: the next key belongs to the step that is shown
            self.set_focus(self._path)
        elif step == "profile":
            self.set_focus(self._profiles)
        elif step == "parameters":
            self._form.focus_first()
        else:
            self.set_focus(self.query_one("#submit", VerticalScroll))

    def _say(self, text: str, *, wrong: bool = False) -> None:
        self._said.show(said_pieces(text, self.app.size.width - 2, wrong=wrong), layout=True)

    def _do(self, what: str, work: Callable[[], Awaitable[None]]) -> None:
        """One piece of work at a time; its errors are said. Keys typed ahead wait for its step, none submits."""
        step = self._step

        async def alone() -> None:
            self._say(what)
            await self.console.guarded(work, lambda text: self._say(text, wrong=True))
            self._busy = False
            self.let_go(keep=self._step not in {step, "submit"})

        self._busy = True
        if step != "submit":
            self.hold()
        start(self, alone, "new run")

    def action_next(self) -> None:
        """Go on, when this step is well."""
        if self._busy:
            self._say("still at it: one moment")
        elif self._step == "what":
            self._choose_file()
        elif self._step == "profile":
            self._choose_profile()
        elif self._step == "parameters":
            self._check_form()
        else:
            self._say("y submits")

    def action_back(self) -> None:
        """One step back; out of the first."""
        if self._submitting:
            self._say("submitting: one moment, what is half created cannot be left")
            return
        self._say("")
        before = step_before(self.draft, self._step)
        if before is None:
            self.dismiss(None)
        else:
            self._show(before)

    def action_move(self, step: int) -> None:
        """The arrows move the list while the text has the focus."""
        if self._step == "what":
            self._found.action_cursor(step)
        elif self._step == "submit":
            self.query_one("#submit", VerticalScroll).scroll_relative(y=step, animate=False)

    # --- what

    def _choose_file(self) -> None:
        typed = self._path.value.strip()
        target = typed_file(typed) or self._found.cursor_key
        if not target:
            self._say(f"There is no file {typed}" if typed else "Type the path of a flow file", wrong=True)
            return
        self._do("reading the file…", partial(self._inspect, target))

    async def _inspect(self, target: str) -> None:
        flows = await inspect(self.console.session, self.draft, target)
        if flows:  # several: choose one of them
            self._path.value = ""
            self._files = [Candidate(flow.entrypoint, "flow", 0, recent=True) for flow in flows]
            self._sift()
            self._say(f"{len(flows)} flows in this file: choose one")
            return
        source = lists.profiles(self.console.session.config, self.draft)
        self._profiles.set_source(source, index_of=source.index_of)
        if self.draft.profile:
            self._profiles.move_to(self.draft.profile)
        warnings = self.draft.flow.warnings if self.draft.flow else ()
        self._say("  ".join(warnings), wrong=bool(warnings))
        self._show("profile")

    def _choose_profile(self) -> None:
        self.draft.profile = self._profiles.cursor_key or NO_PROFILE
        if self.draft.is_script:
            self._do("asking SLURM…", self._look)
        else:
            self._do("", self._fill)

    async def _fill(self) -> None:
        await self._form.set_fields(fields_of(self.draft), "This flow has no parameters: enter goes on")
        self._show("parameters")
        if not self._form.fields:
            self.draft.texts = {}
            self._say(_LOOKING)
            await self._look()

    def _check_form(self) -> None:
        if self._form.complaints:
            self._say("; ".join(self._form.complaints), wrong=True)
            return
        self.draft.texts, self.draft.emptied = self._form.texts, self._form.emptied
        self._do(_LOOKING, self._look)

    async def _look(self, probing: str = NEVER) -> None:
        step = self._step
        lines, well = await look(self.console.session, self.draft, probing=probing)
        if self._step != step:  # gone back meanwhile
            return
        self._script.update(Content("\n").join([Content.styled(visible(text), style) for text, style in lines]))
        self._show("submit")
        self._say("" if well else "SLURM would refuse this: see above; escape goes back", wrong=not well)

    def action_probe(self) -> None:
        """At the last step: one small job tries what only a node knows."""
        if self._step != "submit" or self._busy:
            return
        if self.console.read_only:
            self._say("This console is read-only", wrong=True)
        else:
            self._do("a small job tries it from a node, at most a minute long…", partial(self._look, ALWAYS))

    # --- submit

    def action_submit(self) -> None:
        """Submit, at the last step only."""
        if self._step != "submit":
            return
        if self.console.read_only:
            self._say("This console is read-only", wrong=True)
        elif self._busy or self._left_for is not None:
            self._say("submitted already" if self._left_for else "still at it: one moment")
        else:
            self._submitting = True
            self._do("submitting…", self._submit)

    async def _submit(self) -> None:
        try:
            told, view, key = await submit(self.console.session, self.draft)
        finally:
            self._submitting = False
        self._left_for = view, key
        self.console.store.kick("queue", "prefect", "records")
        self.console.tell(told)
        if self.app.screen is self:  # a dialog may lie over it, which leaving would close instead
            self._leave()

    def on_resize(self) -> None:
        """Another width has room for other keys."""
        self._keys.show(step_keys(self._step, self.app.size.width))

    def on_screen_resume(self) -> None:
        """What lay over the form when it was submitted is gone."""
        if self._left_for is not None:
            self._leave()

    def _leave(self) -> None:
        if self._left_for is not None and not self._left:
            self._left = True
            self.dismiss(None)
            self.console.go(*self._left_for)

    # --- events

    @on(Input.Changed, "#path")
    def _typed(self) -> None:
        self._sift()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        """Of the path, or of the last field: the form itself goes to the next one."""
        event.stop()
        self.action_next()

    @on(VirtualTable.RowChosen)
    def _chosen(self) -> None:
        self.action_next()

    def on_key(self, event: events.Key) -> None:
        """Enter where no field takes it: on the last look it says what submits."""
        if event.key == "enter" and self._step in {"submit", "parameters"} and not isinstance(self.focused, Input):
            self.action_next()
