"""How fast it is, beside what it could be and what others are.

`make bench` runs everything and writes `bench/results/latest.md` and `.json`; `python -m bench NAME...` runs some of it,
`--quick` a short form, and both of these write under `bench/results/local/` instead.

Absolute figures do not travel between machines, so each stands beside a floor (the same work with no lock library in
between) or a rival, measured in the same run and in turns with it.  None of this is a test: nothing fails when a figure
misses its target, the table says so.  It runs where there is `fcntl`.
"""
