"""The Java virtual machine: what is said when it is missing, does not start, or runs out of memory."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import time
from typing import Any

import pytest

from millpond.baselines import moa_jvm
from millpond.baselines.moa import MoaLearner
from millpond.errors import MillpondError, MissingExtra
from millpond.streams import load_stream


def test_without_capymoa_the_message_names_what_to_install(monkeypatch: Any) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    begin = time.perf_counter()
    with pytest.raises(MissingExtra, match=r"pip install 'millpond\[moa\]'.*default-jre-headless"):
        MoaLearner("arf", [load_stream("agr_a").head(10)], seed=1)
    assert time.perf_counter() - begin < 1.0


def test_without_java_the_message_names_what_to_install(monkeypatch: Any, tmp_path: Any) -> None:
    jpype = pytest.importorskip("jpype")

    def nowhere() -> str:
        raise jpype.JVMNotFoundException("No JVM shared library file (libjvm.so) found.")

    monkeypatch.setattr(jpype, "getDefaultJVMPath", nowhere)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingExtra, match=r"no Java was found .*default-jre-headless"):
        moa_jvm._machine(jpype)


def test_java_on_the_path_alone_is_found(monkeypatch: Any, tmp_path: Any) -> None:
    jpype = pytest.importorskip("jpype")

    def nowhere() -> str:
        raise jpype.JVMNotFoundException("none")

    library = tmp_path / "jdk" / "lib" / "server" / "libjvm.so"
    command = tmp_path / "jdk" / "bin" / "java"
    for path in (library, command):
        path.parent.mkdir(parents=True)
        path.touch()
    command.chmod(0o755)
    monkeypatch.setattr(jpype, "getDefaultJVMPath", nowhere)
    monkeypatch.setenv("PATH", str(command.parent))
    assert moa_jvm._machine(jpype) == str(library.resolve())


def test_its_options_are_one_environment_variable(monkeypatch: Any) -> None:
    monkeypatch.delenv(moa_jvm.OPTIONS_VARIABLE, raising=False)
    assert moa_jvm.options() == ["-Xmx2g", "-XX:+UseSerialGC"]
    monkeypatch.setenv(moa_jvm.OPTIONS_VARIABLE, "-Xmx6g '-Dname=two words'")
    assert moa_jvm.options() == ["-Xmx6g", "-Dname=two words"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("-Xmx16m", r"ran out of memory with '-Xmx16m'.*-Xmx6g"),
        ("-XX:+NoSuchOption", r"does not start with '-XX:\+NoSuchOption'"),
    ],
)
def test_a_machine_that_fails_says_why(jpype: Any, options: str, said: str) -> None:
    """In a process of its own: a process has one Java virtual machine."""
    command = [sys.executable, "-m", "millpond", "run", "agr_a", "--learner", "moa:arf"]
    done = subprocess.run(
        [*command, "--limit", "300", "--set", "ensemble_size=20000"],
        env={**os.environ, moa_jvm.OPTIONS_VARIABLE: options},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("millpond: ")
    assert re.search(said, last)


def test_another_failure_in_java_keeps_its_name(jpype: Any) -> None:
    with (
        pytest.raises(
            MillpondError, match=r"moa:x: MOA failed with java.lang.NumberFormatException"
        ),
        moa_jvm.failures_in_words("moa:x"),
    ):
        jpype.java.lang.Integer.parseInt("one")


def test_says_which_moa_it_is(jpype: Any) -> None:
    found = moa_jvm.versions()
    assert set(found) == {"moa", "capymoa", "java"}
    assert found["moa"].startswith("24.07")
