"""From bytes to text, or a StreamError that says what the bytes seem to be."""

from __future__ import annotations

from millpond.errors import StreamError


def decode(content: bytes) -> str:
    r"""UTF-8 text with "\n" line ends; a byte order mark is taken off."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise StreamError("UTF-16 text: save the file as UTF-8")
    if b"\0" in content:
        raise StreamError("a binary file, not text; readable are CSV, TSV, ARFF and Parquet")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise StreamError(
            f"line {line} is not UTF-8 text (byte 0x{content[error.start]:02x}): "
            "save the file as UTF-8"
        ) from error
    if not text.strip():
        raise StreamError("the file is empty")
    return text.replace("\r\n", "\n").replace("\r", "\n")
