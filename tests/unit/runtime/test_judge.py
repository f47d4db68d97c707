"""The judgement over an inspected call: its text by the rules, and where its paths lead."""

import pytest

from daemon.domain import errors, verdicts
from daemon.runtime import judge
from tests.unit.runtime import rig
from tools import contract

V = verdicts.Verdict
SHELL = contract.ToolSpec(
    name="shell_exec",
    version=1,
    description="d",
    parameters="{}",
    effect=contract.Effect.UNSAFE,
    category=contract.Category.NORMAL,
)
READER = SHELL.model_copy(update={"name": "file_read", "category": contract.Category.READ_ONLY})


def judging() -> judge.Judge:
    return judge.Judge(rig.loaded_rules, rig.place)


def touched(written: str, real: str = "", writes: bool = False) -> contract.Touched:
    return contract.Touched(written=written, real=real or written, writes=writes)


def facts(*paths: contract.Touched) -> contract.Facts:
    return contract.Facts(effect=contract.Effect.UNSAFE, bound=(), shown=(), touched=paths)


async def command(text: str, *paths: contract.Touched) -> verdicts.Judgement:
    one = judging()
    said = await one.said(text, rig.FOLDER)
    return await one.whole(SHELL, said, facts(*paths), rig.FOLDER)


@pytest.mark.parametrize(
    ("text", "paths", "verdict", "always"),
    [
        ("ls -l", (), V.ALLOW_READONLY, False),
        ("cat a.txt", (touched("a.txt", "/project/a.txt"),), V.ALLOW_READONLY, False),
        ("cat a.txt", (touched("a.txt", "/home/me/.ssh/id_rsa"),), V.ASK_NEVER_ALWAYS, False),
        ("cat a.txt", (touched("a.txt", "/state/ducklm.sqlite"),), V.HARD_STOP, False),
        ("cat a.txt", (touched("a.txt", "/elsewhere/b.txt"),), V.ASK, False),
        ("mkdir out", (), V.ASK, True),
        ("sudo ls", (), V.ASK_NEVER_ALWAYS, False),
        ("rm -rf /", (), V.HARD_STOP, False),
    ],
)
async def test_a_command(
    text: str, paths: tuple[contract.Touched, ...], verdict: verdicts.Verdict, always: bool
) -> None:
    judged = await command(text, *paths)
    assert (judged.verdict, judged.always_allowed) == (verdict, always)


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        (touched("/project/a"), V.ALLOW_READONLY),
        (touched("/etc/hostname"), V.ASK),
        (touched("/project/link", "/state/token"), V.HARD_STOP),
        (touched("/home/me/.ssh/id_rsa"), V.ASK_NEVER_ALWAYS),
        (touched("/project/a", writes=True), V.ASK),
    ],
)
async def test_a_tool_of_files(path: contract.Touched, verdict: verdicts.Verdict) -> None:
    judged = await judging().whole(READER, None, facts(path), rig.FOLDER)
    assert judged.verdict is verdict


async def test_a_tool_without_paths_is_its_category() -> None:
    assert (await judging().whole(READER, None, facts(), rig.FOLDER)).verdict is V.ALLOW_READONLY
    assert (await judging().whole(SHELL, None, facts(), rig.FOLDER)).verdict is V.ASK


async def test_sudo_takes_its_password_by_a_pipe() -> None:
    names = judge.names(await judging().said("sudo apt update", rig.FOLDER))
    assert names.argv == ("sudo", "-S", "-k", "-p", "", "apt", "update")
    assert names.elevated


async def test_plain_words_need_no_shell_and_others_do() -> None:
    assert judge.names(await judging().said("ls -l", rig.FOLDER)).argv == ("ls", "-l")
    assert judge.names(await judging().said("ls | wc", rig.FOLDER)).argv is None


async def test_rules_that_cannot_be_used_let_nothing_through() -> None:
    def broken() -> judge.Loaded:
        raise errors.ConfigFault(["permissions.toml: rule x does not match its example"])

    one = judge.Judge(broken, rig.place)
    for _ in range(2):
        with pytest.raises(errors.ConfigFault):
            await one.said("ls", rig.FOLDER)
        with pytest.raises(errors.ConfigFault):
            await one.whole(READER, None, facts(), rig.FOLDER)
