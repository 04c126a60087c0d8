"""The reference of every key, made from their declarations: ``slurmtui config reference`` and docs/configuration.md."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from slurmtui.config_fields import SECTIONS

if TYPE_CHECKING:
    from slurmtui.config_fields import Section

BEGIN = "<!-- begin: made by `python -m slurmtui.config_reference` -->"
END = "<!-- end -->"


def reference() -> str:
    """Tables of all keys, in Markdown."""
    return "\n".join(_table(section) for section in SECTIONS)


def renewed(page: str) -> str:
    """docs/configuration.md with its tables made anew."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{reference()}\n{END}{after}"


def _table(section: Section) -> str:
    defaults = {field.name: field for field in msgspec.structs.fields(section.struct)}
    title = f"`{section.path}`" if section.path else "The top of the file"
    lines = [f"### {title}", "", section.help, "", "| key | meaning | without it | example |", "|---|---|---|---|"]
    for field in section.fields:
        default = _shown(defaults[field.key])
        example = f"`{field.example}`" if field.example else ""
        lines.append(f"| `{field.key}` | {field.help} | {default} | {example} |")
    return "\n".join(lines) + "\n"


def _shown(field: msgspec.structs.FieldInfo) -> str:
    value = field.default
    if value is None or value is msgspec.NODEFAULT or value == () or isinstance(value, msgspec.Struct):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def main() -> None:
    """Renew the tables of docs/configuration.md in the folder this is called in."""
    page = Path("docs/configuration.md")
    page.write_text(renewed(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
