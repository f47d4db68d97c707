"""Files that come into a project: what of them is untrusted taints it, and is told once."""

import pytest

from daemon.domain import ids, inputs, principals, taints
from tests.unit.decide import moves, scenes

pytestmark = [pytest.mark.spec("K-15"), pytest.mark.spec("D-12")]

WEB = (taints.Source(kind=taints.Kind.WEB, source_id="https://example.org"),)
FORWARDED = "project tainted a forwarded message (m)"
BOTH = "project tainted a forwarded message (m), the web (https://example.org)"
FROM_WEB = "project tainted the web (https://example.org)"


def put_file(forwarded: str = "", folder: str = moves.FOLDER) -> scenes.Move:
    """A file comes; forwarded with a message of that id, or the person's own."""
    origin = principals.Origin(
        principal=scenes.OWNER, message_id=forwarded, forwarded=bool(forwarded)
    )
    return lambda scene: [
        inputs.TaintProject(
            credential="owner",
            principal=scenes.OWNER,
            correlation_id="other",
            origin=origin,
            folder=folder,
            artifact_id=ids.ArtifactId("ab" * 32),
        )
    ]


@pytest.mark.parametrize(
    ("before", "artifact", "forwarded", "told"),
    [
        ([], taints.CLEAN, "", []),
        ([], taints.CLEAN, "m", [FORWARDED]),
        ([], WEB, "", [FROM_WEB]),
        ([], WEB, "m", [BOTH]),
        ([put_file("m")], taints.CLEAN, "m", []),
        ([put_file("m")], taints.CLEAN, "", []),
        ([put_file("m")], WEB, "m", [FROM_WEB]),
        ([put_file("m"), moves.trust(moves.FOLDER)], taints.CLEAN, "m", [FORWARDED]),
        ([put_file("m", "/elsewhere")], taints.CLEAN, "m", [FORWARDED]),
    ],
)
def test_what_is_untrusted_of_a_file_taints_where_it_comes(
    before: list[scenes.Move], artifact: taints.Taint, forwarded: str, told: list[str]
) -> None:
    scene = scenes.Scene().given(before)
    scene.attached = artifact
    then = scene.when(put_file(forwarded))
    assert (then.events, then.reply) == (told, "project")
    known = scene.world.taint_of(moves.FOLDER)
    assert {*artifact} <= {*known}
    assert bool(forwarded) <= bool(known)
