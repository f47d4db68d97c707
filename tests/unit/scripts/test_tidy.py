"""Each style rule finds what it is for, and leaves alone what it is not for."""

import textwrap

import pytest

from scripts import tidy

BROKEN = [
    ("function-length", "tools/a.py", "def f() -> None:\n" + "    pass\n" * 70),
    ("file-length", "tools/a.py", "x = 1\n" * 401),
    ("line-length", "tools/a.py", f"x = '{'y' * 96}'\n"),
    ("vague-name", "tools/utils.py", ""),
    ("vague-name", "daemon/common/a.py", ""),
    ("vague-name", "tools/a.py", "class TaskManager: ...\n"),
    ("inner-import", "tools/a.py", "def f():\n    import os\n"),
    ("global", "tools/a.py", "def f():\n    global x\n"),
    ("keyword-passing", "tools/a.py", "def f(**rest):\n    g(1, **rest)\n"),
    ("broad-except", "tools/a.py", "try:\n    f()\nexcept Exception:\n    g()\n"),
    ("broad-except", "tools/a.py", "try:\n    f()\nexcept (OSError, BaseException):\n    g()\n"),
    ("broad-except", "tools/a.py", "try:\n    f()\nexcept:\n    g()\n"),
    ("broad-except", "tools/a.py", "import contextlib\nwith contextlib.suppress(Exception): f()\n"),
    ("unfinished", "tools/a.py", f"x = 1  # {'TO'}{'DO'}: more\n"),
    ("skipped-test", "tests/a.py", "import pytest\n@pytest.mark.skip\ndef test_a(): ...\n"),
    (
        "skipped-test",
        "tests/a.py",
        "import pytest\n@pytest.mark.xfail(strict=True)\ndef f(): ...\n",
    ),
    ("skipped-test", "tests/a.py", "from pytest import skip\nskip('no')\n"),
    ("sleeping-test", "tests/a.py", "import time\ntime.sleep(1)\n"),
    ("sleeping-test", "tests/a.py", "from asyncio import sleep\nasync def f(): await sleep(0.1)\n"),
    ("patching", "tests/a.py", "from unittest import mock\n"),
    ("patching", "tests/a.py", "def f(monkeypatch): monkeypatch.setattr('daemon.x.y', 1)\n"),
    ("impure", "daemon/domain/a.py", "def f(): return open('x')\n"),
    ("impure", "daemon/decide/a.py", "from datetime import datetime\nx = datetime.now()\n"),
    ("impure", "daemon/permission/a.py", "import pathlib\nx = pathlib.Path('x')\n"),
    ("home", "daemon/runtime/a.py", "import grpc.aio\n"),
    ("home", "daemon/runtime/a.py", "from google.protobuf import message\n"),
    ("home", "daemon/storage/a.py", "from proto.ducklm.v1 import tasks_pb2\n"),
    ("home", "daemon/models/worker_host.py", "import llama_cpp\n"),
    ("home", "daemon/runtime/a.py", "import sqlmodel\n"),
    ("database", "daemon/storage/a.py", "import sqlite3\nsqlite3.connect('x')\n"),
    ("database", "daemon/storage/a.py", "import sqlalchemy as sa\nsa.create_engine('x')\n"),
]

CLEAN = [
    ("tools/a.py", "try:\n    f()\nexcept BaseException:\n    g()\n    raise\n"),
    ("daemon/__main__.py", "try:\n    f()\nexcept Exception:\n    g()\n"),
    ("daemon/rpc/interceptors.py", "try:\n    f()\nexcept BaseException:\n    g()\n"),
    ("daemon/rpc/a.py", "import grpc.aio\nfrom proto.ducklm.v1 import common_pb2\n"),
    ("daemon/models/worker/a.py", "import llama_cpp\n"),
    ("daemon/storage/database.py", "import sqlalchemy\nx = sqlalchemy.create_engine('x')\n"),
    ("daemon/domain/a.py", "import datetime\nx = datetime.datetime.fromtimestamp(0)\n"),
    (
        "daemon/domain/a.py",
        "import pathlib\nx = pathlib.PurePosixPath('x')\ninput = 1\ny = input\n",
    ),
    ("tests/a.py", "import asyncio\nasync def f(): await asyncio.sleep(0)\n"),
    ("tests/a.py", "def f(monkeypatch): monkeypatch.setenv('X', '1')\n"),
    ("tools/a.py", "def f(**rest: int) -> int:\n    return sum(rest.values())\n"),
    ("tools/a.py", "import grpcurl\nclass Managerial: ...\n"),
    ("tools/a.py", f"x = '{'TO'}{'DO'}'\n"),
]


def rules_broken(path: str, code: str) -> set[str]:
    text = f'"""What it answers for."""\n{textwrap.dedent(code)}'
    return {fault.rule for fault in tidy.faults(path, text)}


@pytest.mark.parametrize(("rule", "path", "code"), BROKEN)
def test_a_rule_finds_what_it_is_for(rule: str, path: str, code: str) -> None:
    assert rules_broken(path, code) == {rule}


@pytest.mark.parametrize(("path", "code"), CLEAN)
def test_the_rules_leave_the_rest_alone(path: str, code: str) -> None:
    assert rules_broken(path, code) == set()


def test_a_module_without_a_docstring_is_a_fault() -> None:
    assert [fault.rule for fault in tidy.faults("tools/a.py", "x = 1\n")] == ["docstring"]


def test_every_rule_is_shown_failing() -> None:
    assert {rule for rule, _, _ in BROKEN} | {"docstring"} == set(tidy.RULES)


def test_a_fault_names_place_rule_and_mending() -> None:
    (fault,) = tidy.faults("tools/a.py", '"""A."""\n\n\ndef f():\n    global x\n')
    assert str(fault) == (
        "tools/a.py:5: global: hold the state in an object that bootstrap makes and hands on"
    )


def test_text_that_is_no_python_is_one_fault() -> None:
    assert [fault.rule for fault in tidy.faults("tools/a.py", "def\n")] == ["syntax"]


def test_an_exception_covers_its_fault_and_an_unneeded_one_is_reported() -> None:
    fault = tidy.Fault("tools/a.py", 1, "global", "…")
    other = tidy.Fault("tools/b.py", 1, "global", "…")
    needed, unneeded = ("global", "tools/a.py"), ("home", "tools/c.py")
    left, unused = tidy.excuse([fault, other], {needed: "why", unneeded: "why"})
    assert left == [other]
    assert unused == [unneeded]
