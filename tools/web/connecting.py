"""Connects to a host of the web: one look-up, every address checked, then a checked one.

No name is looked up a second time, so it cannot lead elsewhere meanwhile. The host's name goes on
to TLS, which must show a certificate for it. No proxy is known here, and nothing of the environment
is asked. This is the only place of the web tools that opens a socket.
"""

import ipaddress
import socket
import ssl
import time
from collections.abc import Callable, Sequence

from tools import contract
from tools.web import addresses, bounds, urls

_TRIED_ADDRESSES = 4
_MOST_ADDRESSES = 64

Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a host's name, in the order in which they are to be tried.

Raises:
    OSError: there are none.
"""
Open = Callable[[addresses.Address, int, float], socket.socket]
"""A connection to an address and a port within so many seconds.

Raises:
    OSError: there is none.
"""


def resolve(host: str, port: int) -> Sequence[str]:
    """Ask the system."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def open_socket(address: addresses.Address, port: int, seconds: float) -> socket.socket:
    """Connect by number: nothing is looked up."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.settimeout(seconds)
        opened.connect((str(address), port))
    except OSError:
        opened.close()
        raise
    return opened


class Connector:
    """Makes connections; the parts that reach outside are handed in."""

    def __init__(
        self,
        context: ssl.SSLContext,
        resolve_host: Resolve = resolve,
        open_connection: Open = open_socket,
    ) -> None:
        self._context = context
        self._resolve = resolve_host
        self._open = open_connection

    def connect(self, url: urls.Url, limits: bounds.Bounds, deadline: float) -> socket.socket:
        """A connection to where the address leads, with TLS for https.

        Raises:
            ToolFault: it leads to what may not be reached, or nothing answers.
        """
        tried = self._checked(url)[:_TRIED_ADDRESSES]
        reason = "no address"
        for address in tried:
            left = min(limits.connect_seconds, deadline - time.monotonic())
            if left <= 0:
                raise contract.ToolFault(f"{url.host} did not answer in time.")
            try:
                return self._secured(url, self._open(address, url.port, left), left)
            except ssl.SSLCertVerificationError as error:
                raise contract.ToolFault(
                    f"{url.host} shows no good certificate: {error.verify_message}."
                ) from error
            except OSError as error:
                reason = "it took too long" if isinstance(error, TimeoutError) else _said(error)
        raise contract.ToolFault(f"{url.host} cannot be reached: {reason}.")

    def _checked(self, url: urls.Url) -> list[addresses.Address]:
        """The addresses of the host; one that is refused refuses them all."""
        try:
            given = url.address is not None
            names = [url.host] if given else self._resolve(url.host, url.port)
            found = list(dict.fromkeys(map(ipaddress.ip_address, names[:_MOST_ADDRESSES])))
        except (OSError, UnicodeError) as error:
            raise contract.ToolFault(f"There is no host {url.host} to be found.") from error
        except ValueError as error:
            raise contract.ToolFault(f"{url.host} has no address that can be used.") from error
        for address in found:
            kind = addresses.refusal(address, url.listed)
            if kind:
                raise contract.ToolFault(
                    f"{url.host} leads to {address}, which is {kind}: not connected."
                )
        return found

    def _secured(self, url: urls.Url, opened: socket.socket, seconds: float) -> socket.socket:
        if url.scheme == "http":
            return opened
        try:
            opened.settimeout(seconds)
            return self._context.wrap_socket(opened, server_hostname=url.host)
        except OSError:
            opened.close()
            raise


def _said(error: OSError) -> str:
    return (error.strerror or "the connection failed").rstrip(".")
