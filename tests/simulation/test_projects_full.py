"""The file system of the projects is nearly full: no file is taken in, and the rest goes on."""

import grpc
import pytest

from proto.ducklm.v1 import artifacts_pb2, projects_pb2
from tests import running_daemon
from tests.integration.rpc import methods
from tests.simulation import daemon_process, script, test_disk_full

SIZE_BYTES = 64 * 1024 * 1024


@pytest.mark.spec("K-15")
def test_a_nearly_full_disk_takes_no_file(
    place: daemon_process.Place, daemons: daemon_process.Daemons
) -> None:
    """The projects lie on a small disk of the daemon's own."""
    place.prepare([script.Line("Nothing to say.")])
    small = ("--size", str(SIZE_BYTES), "--tmpfs", str(place.outside))
    within = (test_disk_full.bubblewrap(), "--die-with-parent", "--dev-bind", "/", "/", *small)
    daemon = daemons.launch(within=(*within, "--"))
    assert daemon.serves(), daemon.log
    token = (place.state / "token").read_text().strip()
    with grpc.insecure_channel(f"unix:{place.state / daemon_process.SOCKET_NAME}") as channel:
        api = running_daemon.Api(channel, token)
        sent = [artifacts_pb2.PutArtifactRequest(data=b"x")]
        artifact_id = api.artifacts.Put(iter(sent)).artifact_id
        request = projects_pb2.PutFileRequest(artifact_id=artifact_id, name="a")
        with pytest.raises(grpc.RpcError) as caught:
            api.projects.PutFile(request)
        code, sentence = methods.fault(caught.value)
        assert code is grpc.StatusCode.UNAVAILABLE
        assert sentence.startswith("The disk is nearly full: the file was not kept.")
        listed = api.projects.ListFiles(projects_pb2.ListFilesRequest()).files
        assert [one.path for one in listed] == []
