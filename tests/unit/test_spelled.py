"""What looks for secrets finds them in every form, wherever they begin."""

import base64
import json
import urllib.parse

import pytest

from tests import spelled

SECRET = 'q"ä\\ß~k/+?> Z9'.encode()
TEXT = SECRET.decode()
FORMS = {
    "raw": SECRET,
    "JSON": json.dumps({"said": TEXT}).encode(),
    "bytes in JSON": json.dumps({"said": repr(SECRET)}).encode(),
    "hex": SECRET.hex().encode(),
    "URL": f"https://example.org/?p={urllib.parse.quote(TEXT)}".encode(),
    "form": urllib.parse.urlencode({"p": TEXT}).encode(),
    "UTF-16": f"so {TEXT}!".encode("utf-16"),
    **{
        f"base64 after {count}": base64.b64encode(b"u" * count + SECRET + b"!")
        for count in range(5)
    },
    **{
        f"base64 for URLs after {count}": base64.urlsafe_b64encode(b"u" * count + SECRET)
        for count in range(5)
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_found(form: str) -> None:
    assert spelled.found(SECRET, b"before " + FORMS[form] + b" after")
    assert not spelled.found(SECRET.replace(b"k", b"K"), FORMS[form])
