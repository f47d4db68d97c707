"""`ducklm-telegram`: starts the bot, and ends it cleanly. Exit codes as of `ducklm`.

Refuses to start without an owner, since nobody could let anybody in or approve anything.
"""

import asyncio
import hashlib
import logging
import os
import pathlib
import signal
import sys
import traceback
import typing

import grpc
import structlog

from bots import catalogue, client, commands, config, schedule_words, texts as common_texts
from bots.telegram import calls, config as settings, deliveries, lanes, polling, texts, updates
from proto.ducklm.v1 import channels_pb2, common_pb2

OK: typing.Final = 0
FAILED: typing.Final = 1
USAGE: typing.Final = 2
END_S: typing.Final = 4.0
NETWORK_PAUSE_S: typing.Final = 3.0
FRAMES: typing.Final = 12  # of a fault's, the last
MENU: typing.Final = "menu"
WORDS: typing.Final = {
    "common": common_texts,
    "commands": commands,
    "schedules": schedule_words,
    "telegram": texts,
}

_log = structlog.get_logger("bots.telegram")


class _Stop(Exception):
    """The bot cannot run; the message says how to mend it."""


def main() -> None:
    """The console script."""
    sys.exit(_main())


def _main() -> int:
    _set_up_logs()
    try:
        chosen = settings.read(os.environ, pathlib.Path.home())
        catalogue.load(chosen.language, settings.languages(os.environ, pathlib.Path.home()), WORDS)
        asyncio.run(_serve(chosen))
    except (config.ConfigError, _Stop) as error:
        sys.stderr.write(f"ducklm-telegram: {error}\n")
        return USAGE
    except calls.Unauthorized:
        sys.stderr.write(f"ducklm-telegram: {texts.TOKEN_NOT_TAKEN}\n")
        return USAGE
    return OK


def _set_up_logs() -> None:
    """JSON lines on stderr; no text of a chat and no token is ever logged."""
    logging.getLogger("aiogram").setLevel(logging.CRITICAL)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            without_values,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def without_values(
    _: object, method: str, entry: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Say of a fault what it is and where it was, and no word of its own: that may be a text."""
    error = sys.exc_info()[1] if entry.pop("exc_info", None) else None
    if error is not None:
        entry["fault"] = _places(error)
    return entry


def _places(error: BaseException) -> list[str]:
    if isinstance(error, BaseExceptionGroup):
        return [place for one in error.exceptions for place in _places(one)]
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    where = [f"{one.filename}:{one.lineno} {one.name}" for one in frames]
    return [type(error).__name__, *where]


async def _serve(chosen: settings.Settings) -> None:
    """Run until a signal ends it."""
    running = asyncio.current_task()
    assert running is not None
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, running.cancel)
    daemon = client.Client(chosen.daemon)
    api = calls.Calls(chosen.token, chosen.api)
    sending = lanes.Lanes()
    try:
        while True:
            try:
                await run(chosen, daemon, api, sending)
            except* (calls.Unauthorized, _Stop) as faults:
                raise faults.exceptions[0] from None
            except* Exception:
                _log.exception("beginning_again")
                await asyncio.sleep(NETWORK_PAUSE_S)
    except asyncio.CancelledError:
        _log.info("stopping")
    finally:
        await sending.close()
        await api.close()
        await daemon.close()


async def run(
    chosen: settings.Settings,
    daemon: client.Client,
    api: calls.Calls,
    sending: lanes.Lanes,
) -> None:
    """Find out who the bot is and who owns it; then receive and show, for ever."""
    await _check_owner(daemon, api.account)
    me = await _patient_me(api)
    bot = updates.Bot(api.account, me)
    receiving = polling.Polling(daemon, api, sending, bot, chosen.poll_seconds)
    showing = deliveries.Deliveries(daemon, api, sending, None, chosen.show_thinking)
    _log.info("serving", account=api.account)
    async with asyncio.TaskGroup() as group:
        group.create_task(receiving.run(), name="receive")
        group.create_task(showing.run(), name="show")
        group.create_task(_set_menu(daemon, api), name="menu")


async def _check_owner(daemon: client.Client, account: str) -> None:
    """Raise _Stop without one; a daemon that is away is waited for."""
    origin = common_pb2.Origin(principal=f"telegram:{account}:1")
    try:
        look = await daemon.patiently(daemon.channels.Look, channels_pb2.LookRequest(origin=origin))
    except client.CallFault as fault:
        if fault.code is grpc.StatusCode.UNAUTHENTICATED:
            raise _Stop(texts.DAEMON_TOKEN_NOT_TAKEN.format(path="its file")) from None
        raise _Stop(fault.sentence) from None
    if not look.owners:
        raise _Stop(texts.NO_OWNER)


async def _patient_me(api: calls.Calls) -> str:
    while True:
        try:
            return await api.me()
        except calls.Unauthorized:
            raise
        except calls.Fault as fault:
            _log.info("telegram_not_reached", reason=type(fault).__name__)
            await asyncio.sleep(NETWORK_PAUSE_S)


async def _set_menu(daemon: client.Client, api: calls.Calls) -> None:
    """Set the menu of commands once, and again only when it has changed."""
    try:
        await _set_changed_menu(daemon, api)
    except client.CallFault as fault:
        _log.warning("menu_not_kept", code=fault.code.name)


async def _set_changed_menu(daemon: client.Client, api: calls.Calls) -> None:
    listed = commands.menu()
    digest = hashlib.sha256(repr(listed).encode()).hexdigest()
    cursor = channels_pb2.GetCursorRequest(name=MENU)
    if (await daemon.patiently(daemon.channels.GetCursor, cursor)).value == digest:
        return
    while True:
        try:
            await api.set_commands(listed)
            break
        except calls.Fault as fault:
            _log.info("menu_not_set", reason=type(fault).__name__)
            await asyncio.sleep(10 * NETWORK_PAUSE_S)
    kept = channels_pb2.SetCursorRequest(name=MENU, value=digest)
    await daemon.patiently(daemon.channels.SetCursor, kept)


if __name__ == "__main__":
    main()
