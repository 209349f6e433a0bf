"""The report of a run: `report.html` and the terminal's summary, from the `result.json` dict."""

from __future__ import annotations

from millpond.report.html import write_report
from millpond.report.terminal import summary

__all__ = ["summary", "write_report"]
