from __future__ import annotations

import pytest

from millpond.errors import StreamError
from millpond.streams.text import decode


def test_line_ends_and_byte_order_mark():
    assert decode(b"\xef\xbb\xbfa,b\r\nc,d\re,f\n") == "a,b\nc,d\ne,f\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b" \r\n\n", "empty"),
        ("a,b".encode("utf-16"), "UTF-16"),
        (b"a,b\n\x00\x01", "binary"),
        (b"a,b\nc,\xe9\n", "line 2 is not UTF-8"),
    ],
)
def test_refused(content, message):
    with pytest.raises(StreamError, match=message):
        decode(content)
