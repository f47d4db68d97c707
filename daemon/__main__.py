"""`ducklmd`: arguments, subcommands and exit codes.

Takes the lock of the state folder before it loads anything heavy, so that a second daemon is told
so at once.

The exit codes are those of `daemon.exits`.
"""

import argparse
import os
import sys
from pathlib import Path

from daemon import exits, interpreter
from daemon.storage import lock


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ducklmd", description="Start DuckLM's daemon.")
    parser.add_argument("--state", type=Path, help="where state lives (else $DUCKLM_STATE, XDG)")
    parser.add_argument("--config", type=Path, help="a folder with daemon.toml and models.toml")
    parser.add_argument("--models", type=Path, help="the models.toml to use")
    parser.add_argument(
        "--listen",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="unix, unix:/path or 127.0.0.1:PORT; may be given several times",
    )
    return parser


def _xdg(variable: str, fallback: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / fallback) / "ducklm"


def _state(given: Path | None) -> Path:
    named = given or os.environ.get("DUCKLM_STATE") or _xdg("XDG_STATE_HOME", ".local/state")
    return Path(named).expanduser().absolute()


def main() -> int:
    """Run the daemon until it is told to stop, or a subcommand; returns the exit code."""
    if sys.argv[1:2] == ["policy"]:
        from daemon import policy_check  # needs no lock, and the daemon not its parser

        with open(0, encoding="utf-8", errors="surrogateescape", closefd=False) as lines:
            return policy_check.run(sys.argv[2:], lines, sys.stdout, sys.stderr)
    arguments = _parser().parse_args()
    state = _state(arguments.state)
    try:
        held = lock.take(state)
    except lock.LockFault as fault:
        sys.stderr.write(f"ducklmd: {fault}\n")
        return exits.Exit.STATE
    interpreter.lighten_imports()
    from daemon import bootstrap  # the lock comes before the heavy imports

    return bootstrap.run(
        exits.Arguments(
            state=state,
            projects=_xdg("XDG_DATA_HOME", ".local/share") / "projects",
            xdg_config=_xdg("XDG_CONFIG_HOME", ".config"),
            config=arguments.config,
            models=arguments.models,
            listen=tuple(arguments.listen),
        ),
        held,
    )


if __name__ == "__main__":
    sys.exit(main())
