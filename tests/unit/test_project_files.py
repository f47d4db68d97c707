"""Names of files that came in, as they are kept, and what their bytes are."""

import random
import unicodedata

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
        ("- a.txt", "a.txt"),
        ("CON", "_CON"),
        ("nul.tar.gz", "_nul.tar.gz"),
        ("console.txt", "console.txt"),
        ("हिन्दी.txt", "हिन्दी.txt"),
        ("\u0301a.txt", "_\u0301a.txt"),
        ("\u3164\u115f", "file"),
        ("a\ufe0f\u200b\u00a0b", "a___b"),
        ("x" * 119 + " .txt", "x" * 116 + ".txt"),
    ],
)
def test_a_name_is_safe(given: str, kept: str) -> None:
    name = project_files.safe_name(given)
    assert name == kept
    assert project_files.safe_name(name) == name
    assert len(name.encode()) <= project_files.NAME_BYTES


def test_any_name_at_all_is_safe(seed: int) -> None:
    dice = random.Random(seed)
    odd = [
        *map(chr, range(0x250)),
        *"/\\.-_ 🦆鴨\u202e\u200d\u3164\ufe0f\u0301\U0010ffff\U000e0001",
    ]
    for _ in range(2000):
        name = project_files.safe_name("".join(dice.choices(odd, k=dice.randrange(200))))
        assert name
        assert len(name.encode()) <= project_files.NAME_BYTES
        assert name == project_files.safe_name(name) == unicodedata.normalize("NFC", name)
        assert name.isprintable()
        assert not {*name} & {*"/\\\0\"'`$|&;<>*?~!#"}
        assert name[0] not in "-. "
        assert name[-1] not in ". "


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
        (b"\xff", "application/octet-stream"),
        (b"\0\0\xff", "application/octet-stream"),
        (b"a" * 8190 + b"\xff" * 9, "application/octet-stream"),
        (b"a" * 8191 + "ü".encode(), "text/plain"),
        (b"cut off \xc3", "application/octet-stream"),
    ],
)
def test_bytes_are_what_they_begin_with(beginning: bytes, kind: str) -> None:
    assert project_files.media_type(beginning) == kind
