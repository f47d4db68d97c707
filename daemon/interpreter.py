"""What the daemon makes of its interpreter: little work at import, and little waiting later.

Imports the standard library alone: it comes before everything heavy.
"""

import gc
import importlib
import os
import sys

SWITCH_SECONDS = 0.001
COLLECTOR_THRESHOLDS = (50_000, 20, 50)
"""Allocations before a young round, and rounds before an older one."""


def lighten_imports() -> None:
    """Keep libraries from work at import that the daemon has no use for: a tenth of its start."""
    gc.disable()  # until all is loaded: `tune` enables it
    sys.modules.setdefault("rich", None)  # type: ignore[arg-type]  # structlog paints with it
    _load_asyncio_without_tls()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # else each package is searched


def _load_asyncio_without_tls() -> None:
    """OpenSSL is a tenth of a start, and asyncio's streams over it have no use here: gRPC has its
    own, pages are fetched by a child, and httpx wraps its streams by itself. `import ssl` works."""
    if "asyncio" in sys.modules or "ssl" in sys.modules:
        return
    sys.modules["ssl"] = None  # type: ignore[assignment]
    importlib.import_module("asyncio")
    del sys.modules["ssl"]


def tune() -> None:
    """Let the database's thread have the interpreter soon, and the collector look at little.

    A commit takes the interpreter's lock once a statement, and a busy loop lets go of it no sooner
    than the switch interval says. Nearly everything here is freed by its reference count; the
    collector's rounds over values that live on cost a fifth of the loop's time and a quarter of a
    replay's. What of the loaded is garbage stays: little, and to look for it is a tenth of a start.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.freeze()
    gc.set_threshold(*COLLECTOR_THRESHOLDS)
    gc.enable()
