"""The verdict over paths: the strictest of what is written and where it leads, as a table."""

import pytest

from daemon.permission import command, file_rules, findings, rules
from tools import contract

pytestmark = [pytest.mark.spec("D-12"), pytest.mark.spec("D-13")]

PLACE = command.EXAMPLE_PLACE
CWD = PLACE.cwd
R, A = findings.READONLY, findings.ASK
N, H = findings.NEVER_ALWAYS, findings.HARD_STOP

READS: list[tuple[str, str, findings.Verdict]] = [
    ("README.md", f"{CWD}/README.md", R),
    ("./src//a.py", f"{CWD}/src/a.py", R),
    ("src/", f"{CWD}/src", R),
    (".", CWD, R),
    ("", CWD, H),
    ("a/../b", f"{CWD}/b", R),
    (f"{CWD}/a", f"{CWD}/a", R),
    (f"/{CWD}//a", f"{CWD}/a", R),
    ("~/workspace/a", f"{CWD}/a", R),
    ("a*b?[c].txt", f"{CWD}/a*b?[c].txt", R),
    ("*", f"{CWD}/*", R),
    (".e*", f"{CWD}/.e*", R),
    ("größe-日本.txt", f"{CWD}/größe-日本.txt", R),
    ("\ue000a", f"{CWD}/\ue000a", R),
    ("..", "/home/agent", A),
    ("../other/x", "/home/agent/other/x", A),
    (f"{CWD}x/a", f"{CWD}x/a", A),
    ("~", "/home/agent", A),
    ("~/notes", "/home/agent/notes", A),
    ("/etc/passwd", "/etc/passwd", A),
    ("/etc/hostname", "/etc/hostname", A),
    ("/", "/", A),
    ("/tmp/x", "/tmp/x", A),
    ("/proc/cpuinfo", "/proc/cpuinfo", A),
    ("/var/lib", "/var/lib", A),
    (".git/config", f"{CWD}/.git/config", R),
    (".env", f"{CWD}/.env", N),
    (".ENV", f"{CWD}/.ENV", N),
    ("Server.KEY", f"{CWD}/Server.KEY", N),
    (".env/", f"{CWD}/.env", N),
    ("a/../.env", f"{CWD}/.env", N),
    (".env.example", f"{CWD}/.env.example", R),
    ("key.pub", f"{CWD}/key.pub", R),
    ("~/.ssh/id_rsa", "/home/agent/.ssh/id_rsa", N),
    ("/dev/zero", "/dev/zero", N),
    ("/dev/null", "/dev/null", A),
    ("/dev/tcp/example.org/80", "/dev/tcp/example.org/80", N),
    ("/etc/shadow", "/etc/shadow", H),
    ("/etc/sudoers.d/x", "/etc/sudoers.d/x", H),
    ("/dev/sda", "/dev/sda", H),
    ("/proc/kcore", "/proc/kcore", H),
    ("/proc/self/environ", "/proc/4242/environ", H),
    ("/proc/1/mem", "/proc/1/mem", H),
    ("/proc/self/fd/3", "/var/lib/ducklm/ducklm.db", H),
    ("/var/lib/ducklm/token", "/var/lib/ducklm/token", H),
    ("/var/lib/ducklm", "/var/lib/ducklm", H),
    ("/etc/ducklm/permissions.toml", "/etc/ducklm/permissions.toml", H),
    ("~/.config/ducklm/daemon.toml", "/home/agent/.config/ducklm/daemon.toml", H),
    ("a\0b", f"{CWD}/a\0b", H),
    # what a link adds
    ("note", f"{CWD}/other", R),
    ("note", "/etc/hostname", A),
    ("note", "/home/agent/.ssh/id_rsa", N),
    ("note", f"{CWD}/.env", N),
    ("note", "/var/lib/ducklm/token", H),
    ("note", "/etc/shadow", H),
    (".env", f"{CWD}/plain.txt", N),
    ("/etc/shadow", f"{CWD}/plain.txt", H),
    ("/tmp/x", f"{CWD}/x", A),
    ("/".join("a" * 70), f"{CWD}/{'/'.join('a' * 70)}", N),
]

WRITES: list[tuple[str, str, findings.Verdict]] = [
    ("README.md", f"{CWD}/README.md", A),
    ("new/folder/x", f"{CWD}/new/folder/x", A),
    ("a[1].txt", f"{CWD}/a[1].txt", A),
    ("../x", "/home/agent/x", N),
    ("/tmp/x", "/tmp/x", N),
    ("/usr/local/bin/x", "/usr/local/bin/x", N),
    ("~/.bashrc", "/home/agent/.bashrc", N),
    (".git/hooks/pre-commit", f"{CWD}/.git/hooks/pre-commit", N),
    (".GIT/hooks/pre-commit", f"{CWD}/.GIT/hooks/pre-commit", N),
    ("conftest.py", f"{CWD}/conftest.py", N),
    (".env", f"{CWD}/.env", N),
    ("/etc/cron.d/x", "/etc/cron.d/x", N),
    ("/etc/passwd", "/etc/passwd", H),
    ("/etc/ld.so.preload", "/etc/ld.so.preload", H),
    ("/etc/sudoers", "/etc/sudoers", H),
    ("/dev/null", "/dev/null", H),
    ("/dev/shm/x", "/dev/shm/x", H),
    ("/dev/sda", "/dev/sda", H),
    ("/proc/sysrq-trigger", "/proc/sysrq-trigger", H),
    ("/proc/4242/oom_score_adj", "/proc/4242/oom_score_adj", H),
    ("/sys/power/state", "/sys/power/state", H),
    ("/etc", "/etc", H),
    ("~", "/home/agent", H),
    ("/", "/", H),
    ("/var/lib/ducklm/new", "/var/lib/ducklm/new", H),
    ("/etc/ducklm/permissions.toml", "/etc/ducklm/permissions.toml", H),
    ("note", "/home/agent/.bashrc", N),
    ("note", f"{CWD}/.git/hooks/pre-push", N),
    ("note", "/var/lib/ducklm/ducklm.db", H),
    ("note", f"{CWD}/other", A),
]


def touched(written: str, real: str, *, writes: bool, links: bool = False) -> contract.Touched:
    return contract.Touched(written=written, real=real, writes=writes, links=links)


def judged(known: rules.Rules, *several: contract.Touched) -> file_rules.FileJudgement:
    return file_rules.judge(known, several, PLACE)


@pytest.mark.parametrize(("written", "real", "verdict"), READS)
def test_a_path_that_is_read(
    known: rules.Rules, written: str, real: str, verdict: findings.Verdict
) -> None:
    found = judged(known, touched(written, real, writes=False))
    assert found.verdict is verdict, found
    assert bool(found.reasons) or verdict is R


@pytest.mark.parametrize(("written", "real", "verdict"), WRITES)
def test_a_path_that_is_written(
    known: rules.Rules, written: str, real: str, verdict: findings.Verdict
) -> None:
    found = judged(known, touched(written, real, writes=True))
    assert found.verdict is verdict, found
    assert found.reasons


@pytest.mark.parametrize(("written", "real", "verdict"), READS)
def test_writing_is_never_milder_than_reading(
    known: rules.Rules, written: str, real: str, verdict: findings.Verdict
) -> None:
    found = judged(known, touched(written, real, writes=True))
    order = list(findings.Verdict)
    assert order.index(found.verdict) >= order.index(verdict)


def test_the_strictest_of_several_holds(known: rules.Rules) -> None:
    mild = touched("a", f"{CWD}/a", writes=False)
    secret = touched(".env", f"{CWD}/.env", writes=False)
    shadow = touched("/etc/shadow", "/etc/shadow", writes=False)
    assert judged(known, mild, secret).verdict is N
    assert judged(known, secret, shadow, mild).verdict is H
    assert "reads what looks like a secret" in judged(known, secret, shadow).reasons


def test_a_call_that_names_nothing_is_not_waved_through(known: rules.Rules) -> None:
    assert judged(known).verdict is N


@pytest.mark.parametrize(
    ("one", "always"),
    [
        (touched("a", f"{CWD}/a", writes=True), True),
        (touched("a", f"{CWD}/b", writes=True), False),
        (touched("a", f"{CWD}/a", writes=False), False),
        (touched(".env", f"{CWD}/.env", writes=True), False),
        (touched("/etc/hosts", "/etc/hosts", writes=False), True),
    ],
)
def test_when_always_is_offered(known: rules.Rules, one: contract.Touched, always: bool) -> None:
    assert judged(known, one).always_allowed is always


@pytest.mark.parametrize(("writes", "verdict"), [(True, N), (False, R)])
def test_a_file_with_another_name(
    known: rules.Rules, writes: bool, verdict: findings.Verdict
) -> None:
    found = judged(known, touched("a", f"{CWD}/a", writes=writes, links=True))
    assert found.verdict is verdict
    assert ("the file has another name elsewhere" in found.reasons) is writes


def test_where_a_link_leads_is_said_and_hides_nothing(known: rules.Rules) -> None:
    found = judged(known, touched("note", "/etc/x\n\u202ey", writes=False))
    assert "a link leads to /etc/x\\u{a}\\u{202e}y" in found.reasons
    long = judged(known, touched("note", f"/etc/{'x' * 3000}", writes=False))
    assert max(map(len, long.reasons)) < 300
    assert judged(known, touched("./a/../b/", f"{CWD}/b", writes=False)).reasons == ()


def test_marks_in_the_working_folder_are_literal(known: rules.Rules) -> None:
    place = findings.Place("/home/agent/w[1]", "/home/agent", "/s", "/c")
    inside = touched("a*", "/home/agent/w[1]/a*", writes=False)
    beside = touched("/home/agent/w1/a", "/home/agent/w1/a", writes=False)
    alike = touched("x", "/home/agent/w\ue000c1]/a", writes=False)
    assert file_rules.judge(known, [inside], place).verdict is R
    assert file_rules.judge(known, [beside], place).verdict is A
    assert file_rules.judge(known, [alike], place).verdict is A


@pytest.mark.parametrize(
    ("verdict", "written", "real", "raised", "reason"),
    [
        (R, f"{CWD}/a", f"{CWD}/a", R, ""),
        (R, f"{CWD}/a", f"{CWD}/b", R, ""),
        (R, f"{CWD}/a", "/etc/hostname", A, "a link leads to /etc/hostname"),
        (R, f"{CWD}/a", f"{CWD}/.env", N, "reads what looks like a secret"),
        (R, f"{CWD}/a", "/home/agent/.ssh/id_rsa", N, "reads what looks like a secret"),
        (R, f"{CWD}/a", "/etc/shadow", H, "touches the password hashes or who may become root"),
        (R, f"{CWD}/a", "/var/lib/ducklm/x", H, "reaches into the daemon's own state or policy"),
        (A, "/etc/localtime", "/usr/share/zoneinfo/UTC", A, ""),
        (A, f"{CWD}/a", "/etc/hostname", A, "a link leads to /etc/hostname"),
        (N, f"{CWD}/a", "/etc/hostname", N, "a link leads to /etc/hostname"),
        (H, f"{CWD}/a", "/etc/hostname", H, "a link leads to /etc/hostname"),
        (R, f"{CWD}/.env", f"{CWD}/a", R, ""),
    ],
)
def test_links_raise_a_commands_verdict(
    known: rules.Rules,
    verdict: findings.Verdict,
    written: str,
    real: str,
    raised: findings.Verdict,
    reason: str,
) -> None:
    one = touched(written, real, writes=False)
    found = file_rules.raise_for_links(verdict, known, [one], PLACE)
    assert found.verdict is raised
    assert reason in found.reasons if reason else found.reasons == ()
    assert not found.reasons or not found.always_allowed


def test_without_paths_a_verdict_stays(known: rules.Rules) -> None:
    for verdict in (R, A, N, H):
        assert file_rules.raise_for_links(verdict, known, [], PLACE).verdict is verdict
