"""Small tables, for terminals and notebooks."""

from __future__ import annotations

from collections.abc import Iterable


def table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """A table of two columns, as HTML."""
    from html import escape  # (Imports cost milliseconds, which those who want no table need not wait.)

    body = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(str(value))}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{escape(title)}</caption>{body}</table>"


def text(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """The same as lines."""
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    return "\n".join([title, *(f"  {name:{width}}  {value}" for name, value in rows)])


class Shown:
    """What is shown as a small table of its `_rows`, named as its class."""

    def _rows(self) -> list[tuple[str, object]]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return text(type(self).__name__, self._rows())

    def _repr_html_(self) -> str:
        return table(type(self).__name__, self._rows())
