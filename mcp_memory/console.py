"""What all commands share: where they print, how they show that they are busy, how they fail."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from .address import holder_of
from .errors import FolderInUseError, McpMemoryError
from .memory import LocalMemory
from .paths import data_folder
from .records import OnProgress
from .remote import RemoteMemory
from .settings import load_settings

T = TypeVar("T")

# What the terminal is called in what it writes.
_NAME = "cli"

out = Console()
err = Console(stderr=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]


@contextmanager
def failing_clearly() -> Iterator[None]:
    """End the program with code 1 and the message of a known error, with 130 upon Ctrl-C."""
    try:
        yield
    except McpMemoryError as exc:
        # Soft: a command to copy must not be broken by a line's end.
        err.print(Text(f"{exc.code}: {exc.message}", style="bold red"), soft_wrap=True)
        err.print(Text(f"→ {exc.hint}"), soft_wrap=True)
        raise typer.Exit(1) from exc
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def busy() -> Progress:
    """Lines that turn and count the time on a terminal and leave nothing behind; elsewhere nothing."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    return Progress(*columns, console=err, transient=True, disable=not err.is_terminal)


def shown_while(doing: str, items: Iterable[T]) -> Iterator[T]:
    """The items, with a line that says what is being done until each comes."""
    with busy() as progress:
        progress.add_task(doing, total=None)
        yield from items


def reach_memory() -> LocalMemory | RemoteMemory:
    """The memory in the running engine, which may have something to tell; else the data folder, opened here.

    Raises:
        McpMemoryError: it cannot be reached.
    """
    return _with_notice(RemoteMemory.of_running(_NAME)) or _opened()


def reach_memory_with_its_own_model() -> LocalMemory | RemoteMemory:
    """The same, also where the settings name another model than the folder has.

    Raises:
        McpMemoryError: it cannot be reached.
    """
    return _with_notice(RemoteMemory.attached(_NAME)) or _opened(embedding_model="")


def _opened(**given: Any) -> LocalMemory | RemoteMemory:
    """The data folder, opened here; but the engine that holds it where one has only just been started."""
    try:
        # Called as is set, as it is with an engine.
        return LocalMemory.open(agent_id=load_settings().agent_id or _NAME, **given)
    except FolderInUseError:
        holder = holder_of(data_folder())
        if not holder or not holder.is_engine:
            raise
        # A hook starts it and goes: whoever comes next finds it holding the folder and not listening yet.
        return RemoteMemory.awaited(_NAME)


def _with_notice(running: RemoteMemory | None) -> RemoteMemory | None:
    if running and running.notice:
        warn(running.notice)
    return running


def warn(told: str) -> None:
    """Print what people are to know beside a result."""
    err.print(Text(told, style="yellow"), soft_wrap=True)


def print_json(value: Any) -> None:
    """Print a value as JSON, its lines as long as they are."""
    # Not through rich: it would wrap long lines.
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


@contextmanager
def working_memory(doing: str, *, catching_up: bool = False) -> Iterator[LocalMemory | RemoteMemory]:
    """The memory of the running engine, else the opened folder; failures end the program with their message."""
    with failing_clearly(), busy() as progress:
        task = progress.add_task(doing, total=None)

        def show(done: int, total: int) -> None:
            progress.update(task, description="Embedding what was left from last time", completed=done, total=total)

        with reach_memory() as memory:
            if catching_up and isinstance(memory, LocalMemory):
                memory.catch_up(show)
                progress.update(task, description=doing, completed=0, total=None)
            yield memory


@contextmanager
def measured_memory(
    doing: str, reach: Callable[[], LocalMemory | RemoteMemory] = reach_memory
) -> Iterator[tuple[LocalMemory | RemoteMemory, OnProgress]]:
    """The memory of the running engine, else the opened folder, and what draws a bar; failures end the program."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=err, transient=True, disable=not err.is_terminal)
    with failing_clearly(), progress:
        task = progress.add_task(doing, total=None)

        def show(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        with reach() as memory:
            yield memory, show
