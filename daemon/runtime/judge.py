"""Judges calls by the owner's rules: a command's text, the paths that a call names, its category.

The rules are loaded and tried on their examples beside everything else; a call that comes earlier
waits for them, and the parsers are loaded no sooner. Rules that cannot be used let nothing run.
Never inspects and never decides.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from daemon.domain import verdicts
from daemon.permission import findings, policy
from tools import contract

if TYPE_CHECKING:
    from daemon.permission import rules

SUDO = "sudo"
_SUDO_BY_PIPE = (SUDO, "-S", "-k", "-p", "")
"""Takes the password from standard input, remembers nothing, and prompts nobody."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The rules, and what tells them from any others."""

    rules: "rules.Rules"
    revision: str


class Judge:
    """One daemon's. `place` says where a call runs that has this working folder."""

    def __init__(self, load: Callable[[], Loaded], place: Callable[[str], findings.Place]) -> None:
        self._load = load
        self._place = place
        self._loading: asyncio.Future[Loaded] | None = None
        self._loaded: Loaded | None = None

    async def load(self) -> Loaded:
        """The rules, loaded once.

        Raises:
            rules.PermissionsFault: they are not well formed, or judge an example otherwise.
            errors.ConfigFault: the file cannot be read.
        """
        if self._loaded is None:
            if self._loading is None:
                self._loading = asyncio.ensure_future(asyncio.to_thread(self._load))
            self._loaded = await asyncio.shield(self._loading)
        return self._loaded

    async def said(self, text: str, folder: str) -> findings.CommandJudgement:
        """What the rules say of a command's text in a folder."""
        loaded = await self.load()
        from daemon.permission import command

        return await asyncio.to_thread(command.judge, loaded.rules, text, self._place(folder))

    async def whole(
        self,
        spec: contract.ToolSpec,
        said: findings.CommandJudgement | None,
        facts: contract.Facts,
        folder: str,
    ) -> verdicts.Judgement:
        """The judgement over an inspected call: its command or category, and where paths lead."""
        loaded = await self.load()
        if said is None and facts.hosts and not facts.touched:
            return policy.of_hosts(spec.category, facts.hosts)
        if said is None and not facts.touched:
            return policy.of_category(spec.category)
        from daemon.permission import file_rules

        place = self._place(folder)
        if said is None:
            category = policy.of_category(spec.category)
            judged = file_rules.judge(loaded.rules, facts.touched, place)
            touched = verdicts.Judgement(judged.verdict, judged.reasons, judged.always_allowed)
            return policy.combine(touched, category) if touched.reasons else category
        led = file_rules.raise_for_links(said.verdict, loaded.rules, facts.touched, place)
        raised = led.verdict is not said.verdict
        return verdicts.Judgement(
            verdict=led.verdict,
            reasons=said.reasons + led.reasons,
            always_allowed=said.always_allowed and not raised and not led.rules,
        )


def names(said: findings.CommandJudgement) -> contract.Names:
    """What of a judged command is to be looked up; `sudo` takes its password by a pipe."""
    argv, elevated = said.argv, False
    if argv is not None and argv[0] == SUDO:
        argv, elevated = (*_SUDO_BY_PIPE, *argv[1:]), True
    return contract.Names(argv=argv, elevated=elevated, programs=said.programs, paths=said.paths)
