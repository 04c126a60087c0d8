"""What the keys do in every view: the pane beneath the list, actions of the registry, the prompt, marks."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from textual import on

from slurmtui.actions import registry
from slurmtui.keymap import is_printable
from slurmtui.views.frame import FrameScreen
from slurmtui.views.keys import FIRST
from slurmtui.views.lines import key_pieces
from slurmtui.widgets.prompt import Prompt
from slurmtui.widgets.virtual_table import VirtualTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events

    from slurmtui.actions.model import Context
    from slurmtui.views.logs.pane import LogPane


class ViewScreen(FrameScreen):
    """Base of the views."""

    def __init__(self) -> None:
        super().__init__()
        self._doing: dict[str, Callable[[], object]] = {
            "mark": self.mark, "filter": self.open_filter, "next-pane": self.next_pane, "back": self.back,
            "detail-pane": self.toggle_detail, "log-pane": self.toggle_log, "bigger": lambda: self.grow_pane(1),
            "smaller": lambda: self.grow_pane(-1), "wrong": self.toggle_wrong,
        }  # fmt: skip

    def paint_keys(self) -> None:
        """The keys that can be used now."""
        line = registry.key_line(self.key_context(), self.console.own_keys)
        self.keys.show(key_pieces(line, self.size.width))

    def paint_pane(self) -> None:
        """The detail follows the cursor; a log stays with what it was opened for."""
        if self.pane_shown == "detail":
            self.detail.show(self.detail_lines())
        elif self.log_pane is not None:
            self.log_pane.update(self.snapshot)

    # --- the pane

    @property
    def log_pane(self) -> LogPane | None:
        """The pane with a log that actions are meant for: the open one."""
        return self.pane.logs if self.pane_shown == "logs" else None

    def key_context(self) -> Context:
        """What the keys are for: the row under the cursor, or the log that has the focus."""
        pane = self.log_pane
        if pane is None or not pane.has_focus:
            return self.context()
        return dataclasses.replace(self.context(), place="log", log=pane.facts())

    def context_at_cursor(self) -> Context:
        """What an action is given that concerns the row under the cursor, whatever is marked."""
        return dataclasses.replace(
            self.context(), marked_runs=(), marked_jobs=(), marked_cases=(), groups={}, hidden_marks=0
        )

    @property
    def hidden_marks(self) -> int:
        """How many rows are marked when none of them is shown."""
        return 0 if self.table.shows_a_mark() else len(self.table.marks)

    @property
    def pane_shown(self) -> str:
        """``detail``, ``logs`` or "" when it is closed."""
        return self.pane.shown

    def open_pane(self, which: str) -> None:
        """Show a pane beneath the list."""
        self.pane.open(which)
        self.paint_pane()

    def close_pane(self) -> None:
        """Give the list the whole screen."""
        self.pane.shut()
        self.set_focus(self.table)

    def grow_pane(self, step: int) -> None:
        """Give the pane more lines, or fewer."""
        if self.pane_shown:
            self.pane.grow(step)
        else:
            self.console.tell("No pane is open whose size could be changed")

    def toggle_detail(self) -> None:
        """Open the detail, or close it when it is shown."""
        if self.pane_shown == "detail":
            self.close_pane()
        else:
            self.open_pane("detail")

    def toggle_log(self) -> None:
        """Follow the log of the row under the cursor, which has the keys then; again on the same row closes it."""
        marked = self._marked_logs()
        if len(marked) > 1:
            self.console.go("logs", "all " + "\n".join(marked))
            return
        found = self.log_source()
        if found is None:
            self.console.tell("There is nothing under the cursor whose log could be shown", severity="warning")
            return
        key, name, source = found
        if self.log_pane is not None and self.log_pane.log_key == key:
            self.close_pane()
            return
        self.open_pane("logs")
        self.pane.logs.open(key, name, source)
        self.pane.logs.focus()

    def _marked_logs(self) -> list[str]:
        from slurmtui.views.logs.opening import marked_keys  # noqa: PLC0415 - the console starts without paying for it

        return marked_keys(self.context())

    def next_pane(self) -> None:
        """Move the focus between the list and the pane."""
        if not self.pane_shown:
            self.console.tell("There is one pane only; ? tells what opens another")
        elif self.table.has_focus:
            (self.log_pane or self.detail).focus()
        else:
            self.set_focus(self.table)

    # --- keys

    def action_act(self, action_id: str) -> None:
        """Run an action of the registry, or say why not."""
        pane, context = self.log_pane, self.context()
        if pane is not None and context.log is None:
            context = dataclasses.replace(context, log=pane.facts())
        self.console.start(registry.BY_ID[action_id], context)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """In the prompt a key that types a character does just that."""
        if action != "act" or not self.prompt.is_open:
            return True
        wanted = registry.BY_ID[str(parameters[0])]
        return wanted.key not in FIRST or not any(map(is_printable, registry.keys_of(wanted, self.console.own_keys)))

    def do(self, what: str) -> bool:
        """Do what concerns this screen; False when it is not this screen's business."""
        if what.startswith("log."):
            return self.perform_in_log(what.removeprefix("log."))
        doing = self._doing.get(what)
        if doing is None:
            return False
        doing()
        return True

    def perform_in_log(self, what: str) -> bool:
        """Do what concerns the log; False when there is none, or it is not its business."""
        if what in {"beside", "below"}:
            self._to_logs_view(what)
            return True
        return self.log_pane is not None and self.log_pane.do(what)

    def _to_logs_view(self, where: str) -> None:
        """Show the log that has the focus, else those that are marked or under the cursor, in the Logs view."""
        pane = self.log_pane
        found = self.log_source() if pane is None or not pane.has_focus else None
        keys = self._marked_logs() or ([found[0]] if found is not None else [])
        if pane is not None and pane.has_focus:
            keys = [pane.log_key]
        if found is not None:
            found[2].close()
        self.console.go("logs", f"{where} " + "\n".join(keys))

    def on_key(self, event: events.Key) -> None:
        """A key that means nothing here says so; escape and a key that a slow line ran together are taken apart."""
        if event.key.startswith("alt+") and not self.prompt.is_open:
            self.back()
            self.console.simulate_key(event.key.removeprefix("alt+"))
        elif event.is_printable and not self.prompt.is_open and event.key not in self.active_bindings:
            label = registry.key_label(event.key)
            self.console.tell(f"{event.character or label} does nothing here; ? shows the keys")

    def mark(self) -> None:
        """Mark the row under the cursor and go on to the next."""
        if no_job := self.context().no_job:
            self.console.tell(no_job)
        elif self.table.cursor_key:
            self.table.marks ^= {self.table.cursor_key}
            self.table.action_cursor(1)
            self.paint_lines()

    def back(self) -> None:
        """Leave what goes on in a log, else close the pane, else clear the marks, else the filter."""
        if self.log_pane is not None and self.log_pane.doing.leave():
            return
        if self.pane_shown:
            self.close_pane()
        elif self.table.marks:
            self.table.marks = frozenset()
        elif self.filter.text:
            self.filter.set("")
            self.changed()
        elif self.wrong:
            self.toggle_wrong()
        else:
            self.console.tell("Nothing is open here; ctrl+c leaves")
        self.paint_lines()

    # --- the prompt

    def open_filter(self) -> None:
        """Type a filter, and the list follows; in a log, what to search for."""
        if self.log_pane is not None and self.log_pane.has_focus:
            self.do("log.find")
        else:
            self.prompt.open("filter", "/ ", self.filter.text)

    @on(Prompt.Typed)
    def _typed(self, event: Prompt.Typed) -> None:
        if event.purpose == self.prompt.purpose == "filter" and event.text == self.prompt.text:  # else one behind it
            self.prompt.complain("" if self.filter.set(event.text) else self.filter.error)
            self.rebuild(self.snapshot)
            self.paint_tabs()

    def entered(self, purpose: str, text: str) -> None:
        """Take the filter, or do what was typed."""
        self.set_focus(self.table)
        if purpose == "filter" and not self.filter.set(text):
            self.prompt.again("filter", "/ ", text, self.filter.error)
        elif purpose == "filter":
            self.changed()
        elif purpose.startswith("log-"):
            self.entered_in_log(purpose, text)
        else:
            self.console.command(text)

    def entered_in_log(self, purpose: str, text: str) -> None:
        """Something was typed that concerns the log."""
        if self.log_pane is not None:
            self.log_pane.focus()
            self.log_pane.doing.entered(purpose, text)

    def why_hidden(self) -> str:
        """What may hide a row, as the end of a sentence."""
        if self.filter.text:
            return f": the filter may hide it ({self.filter.text}); escape clears it"
        return ": only what is wrong is shown; z shows all" if self.wrong else ""

    def sift(self, text: str) -> None:
        """Take this filter, or say what is wrong with it."""
        if not self.filter.set(text):
            self.console.tell(self.filter.error, severity="warning")
        self.changed()

    def toggle_wrong(self) -> None:
        """Only what is wrong, or all."""
        self.wrong = not self.wrong
        self.changed()

    def abandoned(self, purpose: str, before: str) -> None:
        """As it was before the prompt was opened."""
        self.set_focus(self.table)
        if purpose == "filter":
            self.filter.set(before)
            self.changed()

    # --- the table

    def on_descendant_focus(self) -> None:
        """The keys are those of what has the focus."""
        self.paint_keys()

    @on(VirtualTable.CursorMoved)
    def _moved(self) -> None:
        self.paint_keys()
        self.paint_pane()

    @on(VirtualTable.RowChosen)
    def _chosen(self) -> None:
        self.action_act("open")

    def on_screen_resume(self) -> None:
        """What came while another view was shown."""
        self.show_snapshot(self.snapshot)

    def on_resize(self) -> None:
        """The columns and the lines depend on the width."""
        self.table.set_columns(self.columns_for(self.size.width), self.sorted_by)
        if self.is_current:
            self.paint_lines()
