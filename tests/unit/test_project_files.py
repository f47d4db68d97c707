"""Names of files that came in, as they are kept."""

import pytest

from daemon import project_files


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a.txt", "a.txt"),
        ("Bericht über Enten (2).PDF", "Bericht über Enten (2).PDF"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("/absolute/x.tar.gz", "x.tar.gz"),
        (".bashrc", "bashrc"),
        ("..", "file"),
        ("", "file"),
        ("...", "file"),
        ("-rf", "rf"),
        ("a\nb\t.txt", "a_b_.txt"),
        ("evil\u202egnp.exe", "evil_gnp.exe"),
        ("$(reboot);`x`|y&.sh", "_(reboot)__x__y_.sh"),
        ("e\u0301.txt", "é.txt"),
        ("鴨.txt", "鴨.txt"),
        ("duck 🦆.txt", "duck _.txt"),
        ("a" * 300 + ".txt", "a" * 116 + ".txt"),
        ("ü" * 100 + ".md", "ü" * 58 + ".md"),
        ("no ending." + "x" * 40, "no ending." + "x" * 40),
    ],
)
def test_a_name_is_safe(given: str, kept: str) -> None:
    name = project_files.safe_name(given)
    assert name == kept
    assert project_files.safe_name(name) == name
    assert len(name.encode()) <= project_files.NAME_BYTES


@pytest.mark.parametrize(
    ("beginning", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"%PDF-1.7", "application/pdf"),
        ("Grüße".encode(), "text/plain"),
        ("ü".encode() * 5000, "text/plain"),
        (b"", "text/plain"),
        (b"a\0b", "application/octet-stream"),
        (b"\xff\xfe\xfa" * 20, "application/octet-stream"),
    ],
)
def test_bytes_are_what_they_begin_with(beginning: bytes, kind: str) -> None:
    assert project_files.media_type(beginning) == kind
