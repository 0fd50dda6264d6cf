"""Reports: one page that says what a program is, what it costs, and what was proved of it."""
