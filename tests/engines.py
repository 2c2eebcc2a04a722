"""Engines as processes: which of them run on a folder, whether one still does, and waiting for that."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from mcp_memory.address import Address, published
from tests.ollama_server import PATIENCE_S


def is_running(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def engines_on(home: Path) -> list[int]:
    """The engines of a folder, by pid."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.cmdline()[-2:] == ["engine", "run"] and process.environ().get("MCP_MEMORY_HOME") == str(home):
                found.append(process.pid)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
    return found


def engine_of(home: Path) -> Address:
    """The engine that a folder names."""
    address = published(home)
    assert address is not None
    return address


def kill(pid: int) -> None:
    """End a process without giving it a chance to do anything, and see it gone."""
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid))


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait, not for ever, for something to come about."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it does not come about"
        time.sleep(0.01)
