"""Page sizes and page tokens; a token is the sequence number that the next page lies before."""

from daemon.domain import errors
from proto.ducklm.v1 import common_pb2

DEFAULT_ROWS = 50
MOST_ROWS = 500
_MOST_TOKEN_DIGITS = 18
"""Longer numbers are no sequence numbers, and more than the database takes."""


def size(page: common_pb2.Page) -> int:
    """The rows asked for; raises errors.Refusal when they are out of bounds."""
    return limit(page.size, DEFAULT_ROWS)


def limit(wanted: int, default: int) -> int:
    """A number of rows; 0 means the default."""
    if not 0 <= wanted <= MOST_ROWS:
        raise errors.Refusal(
            errors.RefusalKind.INVALID, f"A page has 1 to {MOST_ROWS} rows, not {wanted}."
        )
    return wanted or default


def before(page: common_pb2.Page) -> int | None:
    """Where the page starts; raises errors.Refusal when the token is none of ours."""
    if not page.token:
        return None
    plain = page.token.isdecimal() and page.token.isascii()
    if not plain or len(page.token) > _MOST_TOKEN_DIGITS:
        raise errors.Refusal(
            errors.RefusalKind.INVALID, "page.token must be the next_page_token of a page."
        )
    return int(page.token)


def token(next_before: int | None) -> str:
    """The token that continues a list; empty when there is no more."""
    return "" if next_before is None else str(next_before)
