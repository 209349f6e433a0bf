"""Which index is asked, as pip would, and what its pages say."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from pathlib import Path

import pytest
from fake_web import Web

from millpond.backbones.published import package_index
from millpond.backbones.published.package_index import find, indexes
from millpond.streams.download import NoConnection

ARCHIVE = "pfns-0.3.0.tar.gz"
PAGE = (
    '<!DOCTYPE html><html><body><h1>Links</h1><a href="../../files/pfns-0.2.tar.gz">pfns-0.2.tar.gz</a>'
    '<br/><a href="../../files/pfns-0.3.0.tar.gz#sha256=00" data-requires-python="&gt;=3.9">\n'
    "pfns-0.3.0.tar.gz</a></body></html>"
)


@pytest.fixture(autouse=True)
def no_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    monkeypatch.setattr(package_index, "_files", list)


def configured(monkeypatch: pytest.MonkeyPatch, *files: Path) -> None:
    monkeypatch.setattr(package_index, "_files", lambda: list(files))


def test_the_public_index_where_nothing_is_configured() -> None:
    assert indexes() == ["https://pypi.org/simple"]


def test_the_environment_comes_before_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    general, own = tmp_path / "general.conf", tmp_path / "own.conf"
    general.write_text(
        "[global]\nindex-url = https://a/simple\nextra-index-url = https://b https://c\n"
    )
    configured(monkeypatch, general, tmp_path / "none.conf")
    assert indexes() == ["https://a/simple", "https://b", "https://c"]
    own.write_text("[global]\nindex-url=https://d%20e/simple\n[install]\nindex-url=https://f\n")
    configured(monkeypatch, general, own)
    assert indexes()[0] == "https://f"
    monkeypatch.setenv("PIP_INDEX_URL", "https://g")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://g https://h")
    assert indexes() == ["https://g", "https://h"]
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(NoConnection, match="configured to use no index"):
        find("pfns", ARCHIVE)


def test_a_file_that_is_no_configuration_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "pip.conf"
    broken.write_text("index-url without a section\n")
    configured(monkeypatch, broken)
    assert indexes() == ["https://pypi.org/simple"]


def test_the_places_of_pips_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "mine.conf"))
    files = package_index._files()
    assert files[-1] == tmp_path / "mine.conf"
    if os.name == "posix":
        assert tmp_path / "pip" / "pip.conf" in files
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    assert package_index._files() == []


def test_a_link_of_an_html_page(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    web.pages["/simple/pfns/"] = PAGE.encode()
    monkeypatch.setenv("PIP_INDEX_URL", f"{web.url}/simple/")
    link = find("pfns", ARCHIVE)
    assert link.url == f"{web.url}/files/pfns-0.3.0.tar.gz"
    assert link.headers == {}


def test_a_link_of_a_json_page(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [{"filename": ARCHIVE, "url": f"{web.url}/f.tar.gz", "hashes": {}}]
    web.pages["/simple/pfns/"] = json.dumps({"files": files}).encode()
    web.kind = "application/vnd.pypi.simple.v1+json"
    monkeypatch.setenv("PIP_INDEX_URL", f"{web.url}/simple")
    assert find("pfns", ARCHIVE).url == f"{web.url}/f.tar.gz"
    web.pages["/simple/pfns/"] = b'{"no": "files"}'
    with pytest.raises(NoConnection, match="not that of a package index"):
        find("pfns", ARCHIVE)


def test_the_next_index_is_asked(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    web.pages["/two/pfns/"] = PAGE.encode()
    monkeypatch.setenv("PIP_INDEX_URL", f"{web.url}/one")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", f"file:///nowhere/at/all {web.url}/two")
    assert find("pfns", ARCHIVE).url.endswith("/files/pfns-0.3.0.tar.gz")
    with pytest.raises(NoConnection) as caught:
        find("pfns", "pfns-9.tar.gz")
    assert f"{web.url}/one/pfns/: the server answers 404" in str(caught.value)
    assert f"{web.url}/two/pfns/ has no pfns-9.tar.gz" in str(caught.value)


def test_a_name_and_password_go_to_the_index_and_into_no_message(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.pages["/simple/pfns/"] = PAGE.encode()
    address = web.url.replace("http://", "http://ann:s%40cret@")
    monkeypatch.setenv("PIP_INDEX_URL", f"{address}/simple")
    link = find("pfns", ARCHIVE)
    token = "Basic " + b64encode(b"ann:s@cret").decode()
    assert web.asked == [("/simple/pfns/", token)]
    assert (link.headers, "ann" in link.url) == ({"Authorization": token}, False)
    with pytest.raises(NoConnection) as caught:
        find("other", "other.tar.gz")
    assert "cret" not in str(caught.value)


def test_they_do_not_go_to_another_server(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    web.pages["/simple/pfns/"] = f'<a href="http://elsewhere/f">{ARCHIVE}</a>'.encode()
    monkeypatch.setenv("PIP_INDEX_URL", web.url.replace("//", "//ann:secret@") + "/simple")
    link = find("pfns", ARCHIVE)
    assert (link.url, link.headers) == ("http://elsewhere/f", {})


def test_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(NoConnection, match="refused"):
        find("pfns", ARCHIVE)
