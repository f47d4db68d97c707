"""Checks the syntax of a file or of a text; what reads it is `syntax.checking`'s.

Reads one regular file that the inspection holds open, or nothing. Never runs what it checks, and
never says that something is right which it could not check.
"""

import os

from tools import confine, contract, files
from tools.syntax import checking

NAME = "check_code"
_TEXT = "text"

_PARAMETERS = """{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"},
"language":{"type":"string","enum":["python","json","toml","yaml","html","javascript"]}},
"required":[],"additionalProperties":false}"""


class Arguments(contract.Value):
    """Which file, or which text in which language; a file's is told by its name."""

    path: str = ""
    text: str = ""
    language: checking.Language | None = None


class _Inspected:
    """Holds the file open, so that the run checks what was inspected; -1 when there is none."""

    def __init__(
        self, facts: contract.Facts, file_fd: int, wanted: Arguments, language: checking.Language
    ) -> None:
        self._facts = facts
        self._file_fd = file_fd
        self.wanted = wanted
        self.language = language

    @property
    def facts(self) -> contract.Facts:
        return self._facts

    def content(self) -> str:
        """What is checked.

        Raises:
            ToolFault: the file cannot be read or is no text.
        """
        if self._file_fd < 0:
            return self.wanted.text
        try:
            return os.pread(self._file_fd, checking.MOST_BYTES + 1, 0).decode()
        except OSError as error:
            raise confine.faulty(files.named(self.wanted.path), error) from error
        except UnicodeDecodeError as error:
            raise contract.ToolFault(f"{files.named(self.wanted.path)} is not UTF-8.") from error

    def close(self) -> None:
        if self._file_fd >= 0:
            os.close(self._file_fd)
            self._file_fd = -1


class CheckCode:
    """The check_code tool."""

    def __init__(self, checker: checking.Checker | None = None) -> None:
        self._checker = checker or checking.Checker()

    spec = contract.ToolSpec(
        name=NAME,
        version=1,
        description="Check the syntax of a file, or of text in a language.",
        parameters=_PARAMETERS,
        effect=contract.Effect.PURE,
        category=contract.Category.READ_ONLY,
    )

    def command(self, arguments_json: str) -> str | None:
        return None

    def shorten(self, text: str, limit_chars: int, failed: bool) -> str:
        return contract.ends(text, limit_chars)

    async def inspect(self, call: contract.Call) -> contract.Inspection:
        wanted = files.arguments(Arguments, NAME, call.arguments_json)
        if bool(wanted.path) == bool(wanted.text):
            raise contract.ToolFault("check_code: give either a path, or a text and its language.")
        language = wanted.language or checking.language_of(wanted.path)
        if language is None:
            known = ", ".join(checking.Language)
            raise contract.ToolFault(f"check_code: language: give one of {known}.")
        return await files.inspected(lambda: _inspect(call, wanted, language))

    async def run(
        self,
        call: contract.Call,
        inspection: contract.Inspection,
        output: contract.Output,
        secret: contract.Secret | None = None,
    ) -> contract.Result:
        if not isinstance(inspection, _Inspected):
            raise contract.ToolFault("check_code checks only what it has inspected.")
        text = await files.done(inspection.content, lambda: None)
        name = files.named(inspection.wanted.path) if inspection.wanted.path else _TEXT
        answer = await self._checker.check(inspection.language, text, name)
        language = checking.told(inspection.language)
        if answer.why:
            said = f"{name}: not checked as {language}: {answer.why}."
        else:
            said = answer.fault or f"{name}: no fault in the syntax of {language}."
        output(said)
        return contract.Result(text=said, failed=bool(answer.why))

    async def reconcile(self, call: contract.Call, intent: str) -> contract.Reconciled:
        return contract.Reconciled.NOT_DONE


def _inspect(call: contract.Call, wanted: Arguments, language: checking.Language) -> _Inspected:
    shown = [("language", language.value)]
    if not wanted.path:
        facts = contract.Facts(
            effect=contract.Effect.PURE, bound=(), shown=(*shown, ("text", wanted.text))
        )
        return _Inspected(facts, -1, wanted, language)
    spot = confine.locate(call, wanted.path)
    try:
        file_fd = confine.open_file(spot)
    finally:
        spot.close()
    status = os.fstat(file_fd)
    facts = contract.Facts(
        effect=contract.Effect.PURE,
        bound=(("file", spot.real), ("inode", ":".join(map(str, confine.identity(status))))),
        shown=(("file", spot.real), *shown),
        touched=(contract.Touched(written=wanted.path, real=spot.real, links=status.st_nlink > 1),),
    )
    return _Inspected(facts, file_fd, wanted, language)
