"""What every write by an RPC says of itself."""

from daemon.domain import base, principals


class Keyed(base.Value):
    """A write by an RPC. The same key and body by the same token get the same answer."""

    credential: str
    principal: principals.Principal
    correlation_id: str
    client_key: str = ""
    body_hash: str = ""
