"""Small tables for notebooks."""

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
