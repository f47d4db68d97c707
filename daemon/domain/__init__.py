"""The daemon's vocabulary: frozen values that cross module borders, and the state they fold into.

Pure: no clock, chance, I/O, threads or event loop. Times are integer milliseconds since the Unix
epoch (suffix `_ms`), sizes are bytes (`_bytes`) or characters (`_chars`), and ids are opaque text.
Every model forbids unknown fields and wrong types, so what is parsed from outside is either a value
of this package or an error that names the field.
"""
