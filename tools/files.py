"""What the file tools share: arguments, work in a thread, and how names and sizes are told.

Never opens anything: that is `confine`'s.
"""

import asyncio
import os
import unicodedata
from collections.abc import Callable
from typing import TypeVar

import pydantic

from tools import confine, contract

RESULT_CHARS = 7000
"""What a result holds at most, so that it reaches a model uncut."""
_NAMED_CHARS = 200
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

_Arguments = TypeVar("_Arguments", bound=contract.Value)
_Inspected = TypeVar("_Inspected", bound=contract.Inspection)
_Answer = TypeVar("_Answer")


def arguments(form: type[_Arguments], tool: str, text: str) -> _Arguments:
    """A call's arguments.

    Raises:
        ToolFault: they do not have the tool's closed form.
    """
    try:
        return form.model_validate_json(text)
    except pydantic.ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"])) or "arguments"
        raise contract.ToolFault(f"{tool}: {where}: {fault['msg']}") from error


def printable(name: str) -> str:
    """A name on one line, with everything that is not seen spelled out."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(
        f"\\u{{{ord(one):x}}}" if unicodedata.category(one) in _UNSEEN else one for one in text
    )


def named(path: str) -> str:
    """A path as a result names it: of a long one the end."""
    text = printable(path)
    return text if len(text) <= _NAMED_CHARS else f"…{text[-_NAMED_CHARS:]}"


def count(number: int, one: str, several: str) -> str:
    """A number of things."""
    return f"{number} {one if number == 1 else several}"


def refuse_in_plan_mode(call: contract.Call) -> None:
    """Refuse to write where a conversation only reads.

    Raises:
        ToolFault: it does.
    """
    if call.confinement.read_only:
        raise contract.ToolFault("This conversation is in plan mode: nothing is written.")


def refuse_far_folders(call: contract.Call, spot: confine.Spot) -> None:
    """Refuse to make folders anywhere but in the working folder.

    Raises:
        ToolFault: the file needs one elsewhere.
    """
    inside = os.path.realpath(call.folder).rstrip("/") + "/"
    if spot.missing and not spot.real.startswith(inside):
        raise contract.ToolFault(
            f"The folder of {spot.written} is not there, and none is made outside "
            "the working folder."
        )


async def inspected(work: Callable[[], _Inspected]) -> _Inspected:
    """Inspect in a thread; when cancelled, what was opened meanwhile is closed."""
    task = asyncio.create_task(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait((task,))
        if task.exception() is None:
            task.result().close()
        raise


async def done(work: Callable[[], _Answer], stop: Callable[[], None]) -> _Answer:
    """Work in a thread; when cancelled, it is told to stop and has ended before this does."""
    task = asyncio.create_task(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        stop()
        await asyncio.wait((task,))
        task.exception()
        raise
