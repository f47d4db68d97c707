"""Measurements against the targets, ratios within one run. One module a name; `figure` is the form.

Real parts are measured: the daemon as a process, a real GGUF, a real SQLite file in a folder on
disk. Nothing is retried until it passes.
"""
