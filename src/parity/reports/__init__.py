"""Records to report.json, report.html, report.md and the terminal.

This package formats; every verdict in it was reached by a gate. It re-exports nothing, so that
importing it loads none of pydantic, jinja2, plotly and rich: import the module that is meant, such as
`parity.reports.files`.
"""
