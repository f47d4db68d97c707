"""Listens on the socket and on loopback, and says SERVING only when it is told to.

Addresses are `unix:/path` or `host:port` with a loopback host: without TLS nothing else is listened
on. The socket is made with mode 0600. What is really listened on stands in `<state>/listening`.
"""

import ipaddress
import os
import socket
from collections.abc import Sequence
from pathlib import Path

from grpc import aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from daemon.domain import errors
from daemon.rpc import (
    admin,
    approvals,
    artifacts,
    backend,
    channels,
    conversations,
    credentials,
    events,
    interceptors,
    profiles,
    projects,
    schedules,
    skills,
    tasks,
)
from proto.ducklm.v1 import (
    admin_pb2,
    admin_pb2_grpc,
    approvals_pb2,
    approvals_pb2_grpc,
    artifacts_pb2,
    artifacts_pb2_grpc,
    channels_pb2,
    channels_pb2_grpc,
    conversations_pb2,
    conversations_pb2_grpc,
    events_pb2,
    events_pb2_grpc,
    profiles_pb2,
    profiles_pb2_grpc,
    projects_pb2,
    projects_pb2_grpc,
    schedules_pb2,
    schedules_pb2_grpc,
    skills_pb2,
    skills_pb2_grpc,
    tasks_pb2,
    tasks_pb2_grpc,
)

LISTENING_FILE = "listening"
RECEIVE_BYTES = 8 * 1024 * 1024
"""The largest message that is read at all; smaller limits are checked with a better sentence."""
_MOST_SOCKET_PATH_BYTES = 107
_OPTIONS = (
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", RECEIVE_BYTES),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
)
_SERVICES = tuple(
    module.DESCRIPTOR.services_by_name[name].full_name
    for module, name in (
        (tasks_pb2, "Tasks"),
        (events_pb2, "Events"),
        (approvals_pb2, "Approvals"),
        (conversations_pb2, "Conversations"),
        (projects_pb2, "Projects"),
        (profiles_pb2, "Profiles"),
        (skills_pb2, "Skills"),
        (artifacts_pb2, "Artifacts"),
        (channels_pb2, "Channels"),
        (schedules_pb2, "Schedules"),
        (admin_pb2, "Admin"),
    )
)


def check_address(address: str) -> str | None:
    """What is wrong with an address, in one sentence; None when it can be listened on."""
    if address.startswith("unix:"):
        path = address.removeprefix("unix:")
        if not path.startswith("/"):
            return f"{address} is no address: write unix:/path, with the path from the root"
        if len(path.encode()) > _MOST_SOCKET_PATH_BYTES:
            return (
                f"the socket path {path} has more than {_MOST_SOCKET_PATH_BYTES} bytes, "
                "which the system does not take: name a shorter one with --listen unix:PATH"
            )
        return None
    host, _, port = address.rpartition(":")
    if not port.isdecimal() or not 0 <= int(port) <= 65_535:
        return f"{address} is no address: write unix:/path or 127.0.0.1:7411"
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        return f"{address} is not a loopback address, and TLS, which others need, is not built yet"
    return None


def _is_held(path: str) -> bool:
    """Whether somebody listens on a socket; gRPC would take the place without a word."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as probe:
        try:
            probe.connect(path)
        except BlockingIOError:
            return True
        except OSError:
            return False
    return True


class Server:
    """The daemon's gRPC server."""

    def __init__(
        self,
        served: backend.Backend,
        look: admin.Look,
        known: credentials.Credentials,
        folder: Path,
    ) -> None:
        self._folder = folder
        self._health = health.aio.HealthServicer()
        self._server = aio.server(interceptors=(interceptors.Gate(known),), options=_OPTIONS)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        tasks_pb2_grpc.add_TasksServicer_to_server(tasks.Tasks(served), self._server)
        events_pb2_grpc.add_EventsServicer_to_server(events.Events(served), self._server)
        approvals_pb2_grpc.add_ApprovalsServicer_to_server(
            approvals.Approvals(served), self._server
        )
        conversations_pb2_grpc.add_ConversationsServicer_to_server(
            conversations.Conversations(served), self._server
        )
        projects_pb2_grpc.add_ProjectsServicer_to_server(projects.Projects(served), self._server)
        profiles_pb2_grpc.add_ProfilesServicer_to_server(profiles.Profiles(served), self._server)
        skills_pb2_grpc.add_SkillsServicer_to_server(skills.Skills(served), self._server)
        artifacts_pb2_grpc.add_ArtifactsServicer_to_server(
            artifacts.Artifacts(served), self._server
        )
        channels_pb2_grpc.add_ChannelsServicer_to_server(channels.Channels(served), self._server)
        schedules_pb2_grpc.add_SchedulesServicer_to_server(
            schedules.Schedules(served), self._server
        )
        admin_pb2_grpc.add_AdminServicer_to_server(admin.Admin(look, served, known), self._server)
        names = (*_SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, self._server)

    async def start(self, addresses: Sequence[str]) -> list[str]:
        """Listen, not yet SERVING; returns the addresses with the ports that were given.

        Raises:
            errors.ConfigFault: an address cannot be listened on.
        """
        faults = [fault for one in addresses if (fault := check_address(one)) is not None]
        if faults:
            raise errors.ConfigFault(faults)
        await self.set_serving(False)
        bound = [self._bind(address) for address in addresses]
        await self._server.start()
        self._tell(bound)
        return bound

    def _tell(self, bound: Sequence[str]) -> None:
        """Keep the addresses where others find them, all at once."""
        path = self._folder / LISTENING_FILE
        temporary = path.with_name(f".{LISTENING_FILE}.tmp")
        temporary.write_text("".join(f"{one}\n" for one in bound))
        temporary.rename(path)

    def _bind(self, address: str) -> str:
        held = f"{address} cannot be listened on: is another daemon there? Choose with --listen"
        if address.startswith("unix:") and _is_held(address.removeprefix("unix:")):
            raise errors.ConfigFault([held])
        previous = os.umask(0o177)
        try:
            port = self._server.add_insecure_port(address)
        except RuntimeError as error:
            raise errors.ConfigFault([held]) from error
        finally:
            os.umask(previous)
        if address.startswith("unix:"):
            return address
        return f"{address.rpartition(':')[0]}:{port}"

    async def set_serving(self, serving: bool) -> None:
        """What health says, for the whole server and for each service."""
        serves = health_pb2.HealthCheckResponse
        status = serves.SERVING if serving else serves.NOT_SERVING
        for name in ("", *_SERVICES):
            await self._health.set(name, status)

    async def stop(self, grace_seconds: float) -> None:
        """Take no new call; let running ones end within a grace."""
        await self._server.stop(grace_seconds)
