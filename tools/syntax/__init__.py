"""Says whether a text is written as its language wants it, and where it is not.

`checking` starts what reads it: `parsing`, a program of its own for Python, JSON, TOML, YAML and
HTML, since a parser can be brought to take all memory or to end its process; for JavaScript `node`,
in the sandbox. Nothing that is checked is ever run, and no fault of a checker is one of the text.
"""
