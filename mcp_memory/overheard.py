"""What of a conversation that nobody asked to be remembered is worth taking in: pure rules, no model."""

from .records import Role
from .redact import redact
from .sift import CODE, QUOTE, is_mere_courtesy, is_only_asking, without_pasted

# A longer message is mostly pasted: its beginning and its end say what it is for.
MAX_CHARS, _HEAD_CHARS, _TAIL_CHARS = 4_000, 2_800, 1_000
_FEW_WORDS = 3
COURTESY = "captured by itself, and says nothing that could matter later"


def as_kept(content: str) -> str:
    """The words of a message as they are taken in: without secrets, and not longer than `MAX_CHARS`.

    >>> as_kept("the wifi password is hunter2")
    'the wifi password is [secret]'
    """
    if len(content) > MAX_CHARS:
        n_left_out = len(content) - _HEAD_CHARS - _TAIL_CHARS
        content = f"{content[:_HEAD_CHARS]}\n[… {n_left_out} characters …]\n{content[-_TAIL_CHARS:]}"
    return redact(content)


def says_nothing(content: str, role: Role = "user") -> bool:
    """Whether a message holds nothing but a question, thanks, a yes, or what was pasted; or is an answer of few words.

    >>> says_nothing("ok, thanks!"), says_nothing("Can you run the tests?"), says_nothing("I use pytest-xdist here.")
    (True, True, False)
    """
    own = without_pasted(content).replace(CODE, "").replace(QUOTE, "")
    if role == "assistant" and len(own.split()) <= _FEW_WORDS:
        return True
    return not own.strip() or is_mere_courtesy(own) or is_only_asking(own)
