"""Confines a command to what it was given: one folder, no network, bounded resources.

`powers` finds out what this machine gives. `view` says what a command may see and write.
`bubblewrap` (namespaces) and `launcher` (Landlock, or nothing but limits) put that into force;
`seccomp` adds what namespaces leave open. `opening` (a program, by `tracing`'s ptrace) sees that
a command opens the copies of scripts that a view gives it, and not what another process puts in
their place. `process` starts the command, watches its limits and leaves nothing of it behind. What
a machine does not give is said, never skipped in silence.

Knows no tool and no command's meaning: it gets an argv and a view.
"""
