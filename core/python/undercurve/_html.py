"""Small tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """A table of two columns, as HTML."""
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(str(value))}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{escape(title)}</caption>{body}</table>"
