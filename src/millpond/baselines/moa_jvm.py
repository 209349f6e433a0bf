"""The Java virtual machine that MOA runs in: found, started once a process, its failures in words.

MOA comes as the jar inside the user's CapyMOA package, and JPype, which CapyMOA installs, starts the
machine. CapyMOA itself is not imported: that would take seconds, for parts of it that are not used here.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from millpond.errors import MillpondError, MissingExtra

OPTIONS_VARIABLE = "MILLPOND_JVM_OPTIONS"
DEFAULT_OPTIONS = "-Xmx2g -XX:+UseSerialGC"

# Signals stay Python's: Ctrl-C and SIGTERM must end a run where it can be resumed.
_ALWAYS = ("-Xrs",)


class MissingMoa(MissingExtra):
    """MOA cannot run here."""

    def __init__(self, what: str) -> None:
        MillpondError.__init__(
            self,
            f"{what}: MOA needs CapyMOA (pip install 'millpond[moa]') and a Java virtual machine "
            "(Debian: apt install default-jre-headless; or set JAVA_HOME). "
            "The river: learners need no Java (pip install 'millpond[river]')",
        )


def require() -> None:
    """Raise what is missing, without starting anything."""
    _jar()
    import jpype

    if not jpype.isJVMStarted():
        _machine(jpype)


def java() -> Any:
    """The `jpype` module, its machine started with MOA on its class path."""
    jar = _jar()
    import jpype

    if not jpype.isJVMStarted():
        try:
            jpype.startJVM(
                _machine(jpype), *options(), *_ALWAYS, classpath=[str(jar)], interrupt=False
            )
        except (RuntimeError, OSError, TypeError) as error:
            raise MillpondError(
                f"the Java virtual machine does not start with {shlex.join(options())!r} "
                f"({_sentence(error)}); its options are in {OPTIONS_VARIABLE}"
            ) from None
    try:
        jpype.JClass("moa.classifiers.Classifier")
    except TypeError:
        raise MillpondError(
            "a Java virtual machine without MOA runs in this process already; "
            "use MOA before the package that started it, or in a process of its own"
        ) from None
    return jpype


def options() -> list[str]:
    return shlex.split(os.environ.get(OPTIONS_VARIABLE, DEFAULT_OPTIONS))


def versions() -> dict[str, str]:
    """Of MOA, CapyMOA and Java, once the machine runs."""
    jpype = java()
    return {
        "moa": str(jpype.JClass("moa.core.Globals").versionString).strip(),
        "capymoa": metadata.version("capymoa"),
        "java": str(jpype.java.lang.System.getProperty("java.version")),
    }


@contextmanager
def failures_in_words(what: str) -> Iterator[None]:
    """A Java exception becomes an error that says what happened and what can be done."""
    import jpype

    try:
        yield
    except jpype.JException as error:
        name = str(error.getClass().getName())
        if name == "java.lang.OutOfMemoryError":
            raise MillpondError(
                f"{what}: the Java virtual machine ran out of memory with "
                f"{shlex.join(options())!r}; give it more, for example "
                f"{OPTIONS_VARIABLE}='-Xmx6g -XX:+UseSerialGC'"
            ) from None
        raise MillpondError(f"{what}: MOA failed with {name}: {error.getMessage()}") from None


def _jar() -> Path:
    found = importlib.util.find_spec("capymoa")
    if found is None or found.origin is None or importlib.util.find_spec("jpype") is None:
        raise MissingMoa("CapyMOA is not installed")
    return Path(found.origin).parent / "jar" / "moa.jar"


def _machine(jpype: Any) -> str:
    """The path of the machine's library: JAVA_HOME, the usual folders, or where `java` leads."""
    try:
        return str(jpype.getDefaultJVMPath())
    except (jpype.JVMNotFoundException, jpype.JVMNotSupportedException) as error:
        command = shutil.which("java")
        home = None if command is None else Path(command).resolve().parents[1]
        for path in () if home is None else sorted(home.rglob("*jvm.*")):
            if path.name in ("libjvm.so", "libjvm.dylib", "jvm.dll"):
                return str(path)
        raise MissingMoa(f"no Java was found ({_sentence(error)})") from None


def _sentence(error: BaseException) -> str:
    """The first sentence of a message that may have several lines."""
    return str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else repr(error)
