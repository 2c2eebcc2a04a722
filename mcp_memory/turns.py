"""The order in which calls came, kept where threads of different speed would change it."""

import contextlib
import threading
from collections import defaultdict, deque
from collections.abc import Iterator


class Turns:
    """A queue for each key. Taking a turn returns at once; its holder waits for it later."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._queues: defaultdict[str, deque[Turn]] = defaultdict(deque)

    def take(self, key: str) -> "Turn":
        """A place behind all that were taken for this key before."""
        turn = Turn(self, key)
        with self._changed:
            self._queues[key].append(turn)
        return turn

    def wait(self, turn: "Turn") -> None:
        """Return when all that were taken before it have been left."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_next(turn))

    def _is_next(self, turn: "Turn") -> bool:
        queue = self._queues.get(turn.key)
        return not queue or turn not in queue or queue[0] is turn

    def leave(self, turn: "Turn") -> None:
        """Let the next one go on. Safe to repeat, and at any time."""
        with self._changed:
            queue = self._queues[turn.key]
            with contextlib.suppress(ValueError):
                queue.remove(turn)
            if not queue:
                del self._queues[turn.key]
            self._changed.notify_all()


class Turn:
    """A place in a queue; without one, nobody is waited for."""

    def __init__(self, turns: Turns | None = None, key: str = "") -> None:
        self._turns = turns
        self.key = key

    @contextlib.contextmanager
    def served(self) -> Iterator[None]:
        """Do something when it is its turn, and leave afterwards."""
        try:
            if self._turns:
                self._turns.wait(self)
            yield
        finally:
            self.leave()

    def leave(self) -> None:
        """Give it up, served or not. Safe to repeat."""
        if self._turns:
            self._turns.leave(self)
