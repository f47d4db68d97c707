"""What a start does not load, and what it makes of the collector."""

import json
import subprocess
import sys

NOT_LOADED = (
    *("sqlmodel", "sqlalchemy.orm", "rich", "psutil", "tree_sitter", "ssl", "configparser"),
    *("tzlocal", "apscheduler", "daemon.spoken_times.reader", "daemon.rpc.export"),
)
"""Each would be waited for by every start; a rename in a library shows here too."""

_START = """
import gc, json, sys
from daemon import interpreter
interpreter.lighten_imports()
from daemon import bootstrap
loaded = sorted(name for name, module in sys.modules.items() if module is not None)
before = gc.isenabled()
interpreter.tune()
import ssl
told = {"loaded": loaded, "collecting": [before, gc.isenabled()], "tls": bool(ssl.HAS_TLSv1_3)}
print(json.dumps(told))
"""


def test_a_start_loads_nothing_that_serving_has_no_use_for() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _START], capture_output=True, text=True, check=True, timeout=60
    )
    told = json.loads(ended.stdout)
    assert not {*NOT_LOADED} & {*told["loaded"]}
    assert "daemon.storage.sqlite_store" in told["loaded"]
    assert told["collecting"] == [False, True]
    assert told["tls"], "who needs TLS later has it"
