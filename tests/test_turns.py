"""Changes in the order in which they came."""

import threading

import pytest

from mcp_memory.turns import Turn, Turns
from tests.ollama_server import PATIENCE_S


def test_turns_of_one_key_are_served_in_the_order_in_which_they_were_taken() -> None:
    turns = Turns()
    taken = [turns.take("ana") for _ in range(5)]
    served: list[int] = []

    def serve(number: int) -> None:
        with taken[number].served():
            served.append(number)

    threads = [threading.Thread(target=serve, args=(number,)) for number in (4, 2, 3, 1, 0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert served == [0, 1, 2, 3, 4]


def test_one_user_does_not_wait_for_another() -> None:
    turns = Turns()
    turns.take("ana")
    with turns.take("ben").served():
        pass


def test_a_turn_that_is_given_up_lets_the_next_one_go_on() -> None:
    turns = Turns()
    first, second, third = (turns.take("ana") for _ in range(3))
    second.leave()
    first.leave()
    first.leave()
    with third.served():
        pass


def test_a_failure_in_its_turn_lets_the_next_one_go_on() -> None:
    turns = Turns()
    first, second = turns.take("ana"), turns.take("ana")
    with pytest.raises(ZeroDivisionError), first.served():
        _ = 1 // 0
    with second.served():
        pass


def test_without_a_queue_nobody_waits() -> None:
    with Turn().served():
        pass
