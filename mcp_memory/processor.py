"""Whether LanceDB runs on this processor: tried in a process of its own, which may die of it.

LanceDB needs AVX2. Without it the process that uses it ends with a signal, and no exception can be caught.
"""

import contextlib
import hashlib
import json
import logging
import platform
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from .errors import StorageError
from .paths import cache_folder

logger = logging.getLogger(__name__)

_PROBE = """
import tempfile, lancedb
with tempfile.TemporaryDirectory() as folder:
    rows = [{"id": "a", "vector": [0.0, 1.0]}, {"id": "b", "vector": [1.0, 0.0]}]
    table = lancedb.connect(folder).create_table("probe", rows)
    assert table.search([1.0, 0.0]).limit(1).to_list()[0]["id"] == "b"
"""
PROBE = (sys.executable, "-c", _PROBE)
_TIMEOUT_S = 120
_RESULT_NAME = "lancedb-runs.json"
# Signals that a process brings upon itself, and what Windows calls the first of them. Others come from outside.
_OWN_SIGNALS = ("SIGILL", "SIGSEGV", "SIGBUS", "SIGABRT", "SIGFPE", "SIGTRAP", "SIGSYS")
_WINDOWS_ILLEGAL_INSTRUCTION = 0xC000001D
AVX2_ADVICE = "LanceDB needs a processor with AVX2: use another machine"


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of it: `signal` names what the child died of by itself, `trouble` says why nothing is known."""

    signal: str = ""
    trouble: str = ""


def try_lancedb(command: Sequence[str] = PROBE) -> Tried:
    """Make and search a tiny table in a child process, in a temporary folder."""
    try:
        # Its standard input could be a host's.
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as exc:
        return Tried(trouble=f"LanceDB could not be tried: {exc}")
    if done.returncode == 0:
        return Tried()
    name = _signal_name(done.returncode)
    if name in _OWN_SIGNALS:
        return Tried(signal=name)
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    why = f"the process that tried was ended by {name}" if name else lines[-1] if lines else "no message"
    return Tried(trouble=f"LanceDB does not work: {why}")


def _signal_name(status: int) -> str:
    if status == _WINDOWS_ILLEGAL_INSTRUCTION:
        return "SIGILL"
    with contextlib.suppress(ValueError):
        return signal.Signals(-status).name
    return ""


def require_lancedb(command: Sequence[str] = PROBE, cache: Path | None = None) -> None:
    """Try LanceDB unless it has worked here before, with this version and on this processor.

    Raises:
        StorageError: it dies here; the message names the signal.
    """
    path = (cache or cache_folder()) / _RESULT_NAME
    here = _here()
    if _remembered(path) == here:
        return
    tried = try_lancedb(command)
    if tried.signal:
        raise StorageError(f"LanceDB dies on this processor with {tried.signal}", hint=AVX2_ADVICE)
    if tried.trouble:
        # Nothing is known of the processor; what is wrong shows itself when the tables are opened.
        logger.warning("%s", tried.trouble)
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(here), encoding="utf-8")


def _remembered(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _here() -> dict[str, str]:
    """LanceDB's version and the processor."""
    version = ""
    with contextlib.suppress(metadata.PackageNotFoundError):
        version = metadata.version("lancedb")
    return {"lancedb": version, "processor": hashlib.sha256(_processor().encode()).hexdigest()}


def _processor() -> str:
    # Linux tells each core's model and abilities; a virtual machine may hide some on the next start.
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        told = {line for line in lines if line.partition("\t")[0] in ("model name", "flags", "Features", "CPU part")}
        return "\n".join(sorted(told))
    return f"{platform.machine()} {platform.processor()}"
