"""The models of the daemon: each slot is one implementation of `runtime.ports.Model`.

    gguf ──► session ──► worker_host ══ frames over pipes ══► worker/  (a program of its own)
    scripted            (spawn, watch, reap)                  llama.cpp: one context, n sequences

- `gguf` is the slot in front of a GGUF file: it starts a worker when one is needed, recycles it
  when it grew old, and waits before it tries again after one that died while it loaded.
- `session` is one life of a worker: the calls in flight, heartbeats, the watchdog, the death.
- `worker_host` knows processes and frames and nothing of models, so that other children
  (embeddings) use it too.
- `worker/` is the child. It shares `protocol` and `frames` with the host and imports nothing else
  of the daemon. It is the only home of llama.cpp: what crashes, hangs or runs out of memory there
  costs the calls in flight, never the daemon.
- `scripted` answers from a file, for tests and dry runs.

A slot knows no other slot. Roles, order and failover belong in front of them, and another backend
(an endpoint) is one more module beside these. No slot retries a call: a fault names its kind, and
who called decides.
"""
