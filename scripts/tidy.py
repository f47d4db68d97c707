"""The style rules as a test: one line a fault, each naming what to write instead.

A rule reads one file and yields (line, message); it knows nothing of other files. What ruff or the
import contracts check already is not checked again. `EXCEPTIONS` is the debt: each with its reason,
and one that is no longer needed is a fault itself.
"""

import ast
import dataclasses
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("bots", "config", "daemon", "memory", "proto", "scripts", "tests", "tools")

FUNCTION_LINES = 70
FILE_LINES = 400
LINE_COLUMNS = 100

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("inner-import", "daemon/__main__.py"): "the lock comes before the heavy imports",
    ("inner-import", "daemon/alarm_clock.py"): "APScheduler: few starts need it soon",
    ("inner-import", "daemon/bootstrap.py"): "psutil, the rules: every start would wait for them",
    ("inner-import", "daemon/runtime/judge.py"): "the parsers: every start would wait for them",
    ("inner-import", "daemon/zones.py"): "zones: a start without schedules would wait for them",
    ("inner-import", "daemon/rpc/conversations.py"): "the export: few daemons are asked for one",
    ("inner-import", "daemon/history/histories.py"): "the stores: no start needs one",
    ("inner-import", "tools/plugins.py"): "configparser: few machines have plugins",
    ("inner-import", "daemon/rpc/schedules.py"): "the words: every start would wait for them",
    ("inner-import", "daemon/storage/sqlite_store.py"): "SQLModel: every start would wait for it",
    ("inner-import", "daemon/config/upgrade.py"): "tomlkit: few starts rewrite a file",
    ("inner-import", "tools/web_fetch.py"): "every start would wait, or lack what it needs",
    ("inner-import", "tools/web_search.py"): "every start would wait, or lack what it needs",
    ("inner-import", "daemon/project_files.py"): "filetype: every start would wait for it",
    ("inner-import", "tools/syntax/parsing.py"): "yaml, html5lib: each check would wait for both",
    ("file-length", "bots/texts.py"): "one catalogue a language, whole",
    ("inner-import", "tools/grep.py"): "re2, pathspec: every start would wait for them",
    ("sleeping-test", "tests/fakes/telegram/server.py"): "a server that hangs, and long polls",
    ("sleeping-test", "tests/fakes/emulator.py"): "it has nothing that could be waited for",
    ("broad-except", "tests/unit/bots/stage.py"): "what fails beside is raised on the main thread",
}

VAGUE_NAMES = frozenset(
    ("common", "helper", "helpers", "manager", "managers", "misc", "util", "utils")
)
VAGUE_ENDINGS = ("Manager", "Helper", "Helpers", "Util", "Utils")

BROAD_EXCEPT_HOMES = (
    "bots/telegram/deliveries.py",  # the other loop of a bot: one delivery stops no other
    "bots/telegram/polling.py",  # the loop of a bot: one update stops no other
    "daemon/runtime/effects.py",
    "daemon/runtime/loop.py",
    "daemon/runtime/tool_calls.py",  # the effects that are tool calls
    "daemon/storage/threads.py",  # raised again where the caller waits
    "tools/plugins.py",  # what a plugin raises when it is loaded becomes a line that names it
)
BROAD_EXCEPT_NAMES = ("interceptors.py", "__main__.py")

PURE_FOLDERS = ("daemon/domain/", "daemon/decide/", "daemon/permission/")
"""Their imports are held by contract; what is left are the impure parts of allowed modules."""
IMPURE_NAMES = {
    "pathlib.Path": "use pathlib.PurePosixPath",
    "datetime.datetime.now": "the time comes in with the input",
    "datetime.datetime.today": "the time comes in with the input",
    "datetime.datetime.utcnow": "the time comes in with the input",
    "datetime.date.today": "the time comes in with the input",
}

DATABASE_HOMES = ("daemon/storage/database.py", "memory/records.py", "tests/")
DATABASE_NAMES = ("sqlite3.connect", "sqlalchemy.create_engine", "sqlmodel.create_engine")

_CLIENTS = ("daemon/rpc/", "bots/", "scripts/", "tests/")
_STORES = ("daemon/storage/", "memory/records.py", "tests/")
HOMES = {
    "aiogram": ("bots/telegram/", "tests/"),
    "apscheduler": ("daemon/alarm_clock.py", "bots/", "tests/"),
    "google.protobuf": _CLIENTS,
    "grpc": _CLIENTS,
    "grpc_health": _CLIENTS,
    "grpc_reflection": _CLIENTS,
    "grpc_testing": ("tests/",),
    "hnswlib": ("memory/index.py",),
    "html_to_markdown": ("tools/web/reading.py",),
    "httpx": ("daemon/models/", "tests/"),
    "idna": ("tools/web/urls.py",),
    "llama_cpp": (
        "daemon/models/worker/",
        "scripts/benchmarks/",
        "tests/integration/models/",
    ),  # measured raw beside it
    "mcp": ("tools/mcp",),
    "nio": ("bots/matrix/", "tests/"),
    "proto": _CLIENTS,
    "sentence_transformers": ("memory/embedder",),
    "sqlalchemy": _STORES,
    "sqlite3": _STORES,
    "sqlmodel": _STORES,
    "tree_sitter": ("daemon/permission/shell_syntax.py",),
    "tree_sitter_bash": ("daemon/permission/shell_syntax.py",),
}

_SKIPS = "pytest.mark.skip pytest.mark.skipif pytest.mark.xfail pytest.skip pytest.xfail"
SKIP_NAMES = frozenset((*_SKIPS.split(), "pytest.importorskip"))
SLEEP_NAMES = frozenset(("time.sleep", "asyncio.sleep", "anyio.sleep"))
UNFINISHED = re.compile(r"\b(" + "|".join(("TODO", "FIXME", "XXX", "HACK")) + r")\b")

Functions = (ast.FunctionDef, ast.AsyncFunctionDef)
Found = Iterator[tuple[int, str]]


@dataclasses.dataclass(frozen=True)
class Source:
    """One file: its path below the root, its text, its tree, and what its names stand for."""

    path: str
    text: str
    tree: ast.Module
    origins: dict[str, str]

    def dotted(self, node: ast.AST) -> str:
        """The full name of a name or attribute (`sleep` imported from time is `time.sleep`)."""
        if isinstance(node, ast.Name):
            return self.origins.get(node.id, node.id)
        if isinstance(node, ast.Attribute) and (before := self.dotted(node.value)):
            return f"{before}.{node.attr}"
        return ""


@dataclasses.dataclass(frozen=True)
class Fault:
    """A place that breaks a rule."""

    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


def parse(path: str, text: str) -> Source:
    """Read one file; raises SyntaxError."""
    tree = ast.parse(text, path)
    origins: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                origins[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            origins.update((alias.asname, alias.name) for alias in node.names if alias.asname)
    return Source(path, text, tree, origins)


def _used_names(source: Source) -> Iterator[tuple[int, str]]:
    """Every name and attribute that is read, with the line where it stands."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name | ast.Attribute):
            yield node.lineno, source.dotted(node)


def _imports(source: Source) -> Iterator[tuple[int, str]]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def _calls(source: Source, *names: str) -> Iterator[ast.Call]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and source.dotted(node.func) in names:
            yield node


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, Functions))


def function_length(source: Source) -> Found:
    for node in _functions(source.tree):
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > FUNCTION_LINES:
            yield node.lineno, f"{node.name} has {lines} lines, at most {FUNCTION_LINES}: split it"


def file_length(source: Source) -> Found:
    lines = source.text.count("\n")
    if lines > FILE_LINES:
        yield 1, f"{lines} lines, at most {FILE_LINES}: give a part of it a module of its own"


def line_length(source: Source) -> Found:
    for number, line in enumerate(source.text.splitlines(), 1):
        if len(line) > LINE_COLUMNS:
            yield number, f"{len(line)} columns, at most {LINE_COLUMNS}: break the line"


def docstring(source: Source) -> Found:
    if not ast.get_docstring(source.tree):
        yield 1, "open the module with what it answers for and what it must never do"


def vague_name(source: Source) -> Found:
    path = PurePosixPath(source.path)
    for part in (*path.parent.parts, path.stem):
        if part in VAGUE_NAMES:
            yield 1, f"{part} says nothing: name the module after what it answers for"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef) and node.name.endswith(VAGUE_ENDINGS):
            yield node.lineno, f"{node.name} says nothing: name the class after what it is"


def inner_import(source: Source) -> Found:
    for function in _functions(source.tree):
        for node in ast.walk(function):
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield node.lineno, f"move the import out of {function.name} to the module's head"


def global_statement(source: Source) -> Found:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Global):
            yield node.lineno, "hold the state in an object that bootstrap makes and hands on"


def keyword_passing(source: Source) -> Found:
    for function in _functions(source.tree):
        taken = function.args.kwarg.arg if function.args.kwarg else None
        for node in ast.walk(function):
            passed = node.value if isinstance(node, ast.keyword) and node.arg is None else None
            if isinstance(passed, ast.Name) and passed.id == taken:
                yield passed.lineno, f"name the parameters instead of passing **{taken} on"


def _caught(source: Source) -> Iterator[tuple[int, ast.expr | None]]:
    """What is caught and kept, or suppressed, where; None is a bare except."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ExceptHandler) and not _raises_again(node):
            parts = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            yield from ((node.lineno, part) for part in parts)
    for call in _calls(source, "contextlib.suppress"):
        yield from ((call.lineno, part) for part in call.args)


def _raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def broad_except(source: Source) -> Found:
    path = PurePosixPath(source.path)
    if source.path in BROAD_EXCEPT_HOMES or path.name in BROAD_EXCEPT_NAMES:
        return
    message = "catch the port's typed errors; only the loop, effects, interceptors and mains may"
    for line, caught in _caught(source):
        if caught is None or source.dotted(caught) in ("Exception", "BaseException"):
            yield line, message


def unfinished(source: Source) -> Found:
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT and (mark := UNFINISHED.search(token.string)):
            yield token.start[0], f"{mark[0]}: do it now, or say in an issue what is left"


def skipped_test(source: Source) -> Found:
    for line, name in _used_names(source):
        if name in SKIP_NAMES:
            yield line, f"{name}: a test runs everywhere, on a fake where the real part is missing"


def sleeping_test(source: Source) -> Found:
    if not source.path.startswith("tests/"):
        return
    for call in _calls(source, *SLEEP_NAMES):
        first = call.args[0] if call.args else None
        if not (isinstance(first, ast.Constant) and first.value == 0):
            name = source.dotted(call.func)
            yield call.lineno, f"{name}: wait for the event itself, or move a clock by hand"


def patching(source: Source) -> Found:
    message = "hand a fake in through a port instead of patching by module path"
    for line, name in _imports(source):
        if name.startswith("unittest.mock"):
            yield line, message
    for call in _calls(source, "monkeypatch.setattr"):
        if isinstance(call.args[0], ast.Constant):
            yield call.lineno, message


def impure(source: Source) -> Found:
    if source.path.startswith(PURE_FOLDERS):
        for call in _calls(source, "open"):
            yield call.lineno, "runtime reads and writes; the content comes in with the input"
        for line, name in _used_names(source):
            if name in IMPURE_NAMES:
                yield line, f"{name} in a pure package: {IMPURE_NAMES[name]}"


def home(source: Source) -> Found:
    for line, name in _imports(source):
        for module, homes in HOMES.items():
            if f"{name}.".startswith(f"{module}.") and not source.path.startswith(homes):
                yield line, f"{module} lives in {', '.join(homes)}: use what that offers"


def database(source: Source) -> Found:
    if not source.path.startswith(DATABASE_HOMES):
        for line, name in _used_names(source):
            if name in DATABASE_NAMES:
                yield line, f"{name}: only {DATABASE_HOMES[0]} opens a database, ask it for one"


Rule = Callable[[Source], Found]
RULES: dict[str, Rule] = {
    "function-length": function_length,
    "file-length": file_length,
    "line-length": line_length,
    "docstring": docstring,
    "vague-name": vague_name,
    "inner-import": inner_import,
    "global": global_statement,
    "keyword-passing": keyword_passing,
    "broad-except": broad_except,
    "unfinished": unfinished,
    "skipped-test": skipped_test,
    "sleeping-test": sleeping_test,
    "patching": patching,
    "impure": impure,
    "home": home,
    "database": database,
}


def faults(path: str, text: str) -> list[Fault]:
    """What is wrong with one file, exceptions included, in the order of the lines."""
    try:
        source = parse(path, text)
    except SyntaxError as error:
        return [Fault(path, error.lineno or 1, "syntax", error.msg)]
    found = {
        Fault(path, line, name, message)
        for name, rule in RULES.items()
        for line, message in rule(source)
    }
    return sorted(found, key=lambda fault: (fault.line, fault.rule, fault.message))


def excuse(
    found: Iterable[Fault], exceptions: dict[tuple[str, str], str]
) -> tuple[list[Fault], list[tuple[str, str]]]:
    """The faults that no exception covers, and the exceptions that cover none."""
    left: list[Fault] = []
    unused = set(exceptions)
    for fault in found:
        if (fault.rule, fault.path) in exceptions:
            unused.discard((fault.rule, fault.path))
        else:
            left.append(fault)
    return left, sorted(unused)


def files(root: Path) -> Iterator[Path]:
    """The Python files of the project that people wrote."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            if "_pb2" not in path.stem:
                yield path


def main() -> int:
    found = [
        fault
        for path in files(ROOT)
        for fault in faults(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))
    ]
    left, unused = excuse(found, EXCEPTIONS)
    for fault in left:
        sys.stderr.write(f"{fault}\n")
    for rule, path in unused:
        sys.stderr.write(
            f"scripts/tidy.py: the exception ({rule}, {path}) is not needed: drop it\n"
        )
    return 1 if left or unused else 0


if __name__ == "__main__":
    sys.exit(main())
