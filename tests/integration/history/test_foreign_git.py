"""The owner's own repository is neither read for its content, nor run, nor written."""

import contextlib
import os
from pathlib import Path

import pytest

from tests.integration.history import folders

pytestmark = [pytest.mark.spec("K-04")]
HOOKS = (
    "pre-commit",
    "commit-msg",
    "post-commit",
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "fsmonitor-watchman",
    "post-rewrite",
    "prepare-commit-msg",
)
CONFIG = """[core]
    fsmonitor = {script}
    hooksPath = {hooks}
    pager = {script}
    sshCommand = {script}
    worktree = /
    attributesFile = {attributes}
[filter "marked"]
    clean = {script}
    smudge = {script}
    process = {script}
    required = true
[diff "marked"]
    command = {script}
    textconv = {script}
[merge "marked"]
    driver = {script}
[diff]
    external = {script}
[gpg]
    program = {script}
[commit]
    gpgSign = true
[alias]
    log = !{script}
[include]
    path = {script}.config
"""
ATTRIBUTES = (
    "* filter=marked diff=marked merge=marked text eol=crlf ident working-tree-encoding=UTF-16\n"
)


def trap(folder: Path, marker: Path) -> Path:
    """Make a repository of a folder in which all that git could run leaves a marker."""
    folder.mkdir(parents=True, exist_ok=True)
    folders.git("init", "-q", cwd=folder)
    (folder / "tracked").write_text("x\n")
    folders.git("add", "tracked", cwd=folder)
    folders.git("commit", "-qm", "x", cwd=folder)
    script = folder / ".git/run-me"
    script.write_text(f"#!/bin/sh\necho run >> {marker}\ncat\n")
    script.chmod(0o755)
    hooks = folder / ".git/hooks"
    for name in HOOKS:
        hook = hooks / name
        hook.write_text(script.read_text())
        hook.chmod(0o755)
    (folder / ".git/info").mkdir(exist_ok=True)
    (folder / ".git/info/attributes").write_text(ATTRIBUTES)
    (folder / ".git/info/exclude").write_text("*\n")
    words = {"script": script, "hooks": hooks, "attributes": folder / ".gitattributes"}
    (folder / ".git/config").write_text(CONFIG.format(**words))
    (folder / ".gitattributes").write_text(ATTRIBUTES)
    (folder / ".gitmodules").write_text('[submodule "s"]\n\tpath = inner\n\turl = ext::sh -c x\n')
    return folder / ".git"


async def test_nothing_of_it_is_run_or_changed(project: folders.Project) -> None:
    marker = project.stores.with_name("marker")
    repositories = [trap(project.folder, marker), trap(project.folder / "inner", marker)]
    were = [folders.digest(one) for one in repositories]
    project.write("a", "$Id$\r\nline\n")
    project.write("inner/b", "1\n")
    await project.before()
    project.write("a", "$Id$\r\nother\n")
    project.write("inner/b", "2\n")
    change = await project.changed()
    project.write("a", "$Id$\r\nother\nmine\n")
    assert "+other" in change.diff
    assert "+other" in await project.history.diff(project.path, change.commit)
    with pytest.raises(Exception, match="a changed since"):
        await project.history.revert(project.path, [change.commit])
    project.write("a", "$Id$\r\nother\n")
    await project.history.revert(project.path, [change.commit])
    assert await project.history.log(project.path, 10)
    assert (project.folder / "a").read_bytes() == b"$Id$\r\nline\n"
    assert (project.folder / "inner/b").read_text() == "1\n"
    assert not marker.exists(), "something of the owner's was run"
    assert [folders.digest(one) for one in repositories] == were
    assert not [name for name in project.kept() if ".git/" in name]
    project.check()


async def test_git_would_have_run_it(project: folders.Project) -> None:
    """The trap is one: git itself falls into it, in the same folder."""
    marker = project.stores.with_name("marker")
    trap(project.folder, marker)
    with contextlib.suppress(AssertionError):
        folders.git("add", "-A", cwd=project.folder)
    assert marker.exists()


async def test_no_repository_of_the_owners_stands_for_the_store(
    project: folders.Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the daemon's own environment says of git."""
    marker = project.stores.with_name("marker")
    repository = trap(project.folder, marker)
    was = folders.digest(repository)
    for name, value in {
        "GIT_DIR": str(repository),
        "GIT_WORK_TREE": project.path,
        "GIT_CONFIG_GLOBAL": str(repository / "config"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "diff.external",
        "GIT_CONFIG_VALUE_0": str(repository / "run-me"),
        "GIT_EXTERNAL_DIFF": str(repository / "run-me"),
        "GIT_OBJECT_DIRECTORY": str(repository / "objects"),
        "GIT_INDEX_FILE": str(repository / "index"),
        "PATH": str(repository),
        "HOME": str(repository),
    }.items():
        monkeypatch.setenv(name, value)
    os.symlink(repository / "run-me", repository.parent / "git")
    await project.before()
    project.write("a", "1\n")
    change = await project.changed()
    await project.history.revert(project.path, [change.commit])
    assert not marker.exists()
    assert folders.digest(repository) == was
