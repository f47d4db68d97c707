"""Which mode a caller may give a conversation: YOLO needs the right to approve as well."""

from daemon.domain import errors, principals, verdicts
from daemon.rpc import backend


def check(
    served: backend.Backend,
    mode: verdicts.Mode | None,
    who: principals.Credential,
    stated: principals.Principal,
) -> None:
    """Raise errors.Refusal where the mode is YOLO and the caller may not set that."""
    if mode is not verdicts.Mode.YOLO:
        return
    if "approve" not in who.scopes:
        raise errors.Refusal(
            errors.RefusalKind.FORBIDDEN,
            "YOLO lets commands run unasked: setting it needs a token with scope approve too.",
        )
    if "channel" in who.scopes and not served.is_owner(stated):
        raise errors.Refusal(
            errors.RefusalKind.FORBIDDEN,
            "YOLO lets commands run unasked: in a chat only an owner of this daemon may set it.",
        )
