"""What a user has excluded: words that are never stored, folders in which nothing happens by itself."""

import unicodedata
from collections.abc import Sequence
from fnmatch import fnmatchcase

import regex

# A pattern of the user's own may be one that takes for ever.
_MATCH_S = 0.2
_INVISIBLE = regex.compile(r"\p{Cf}")


def is_text_excluded(text: str, patterns: Sequence[str]) -> bool:
    """Whether one of some regular expressions is found in a text, in any case, width and compatibility form.

    One that takes too long on a text counts as found: what is to stay out must not come in for want of time.

    >>> is_text_excluded("Project NIGHTJAR is late", ["nightjar"]), is_text_excluded("night\u200bjar", ["nightjar"])
    (True, True)
    """
    # As it is read, without the characters that nobody sees.
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    for pattern in patterns:
        for form in dict.fromkeys((text, plain)):
            try:
                if regex.search(pattern, form, regex.IGNORECASE, timeout=_MATCH_S):
                    return True
            except TimeoutError:
                return True
    return False


def is_folder_excluded(folder: str, patterns: Sequence[str], home: str = "") -> bool:
    """Whether a folder, or one that it lies in, matches one of some patterns with `*` and `?`; `~` is the `home`.

    >>> is_folder_excluded("/home/ana/work/secret/src", ["~/work/sec*"], "/home/ana")
    True
    """
    parts = folder.replace("\\", "/").rstrip("/").split("/")
    places = ["/".join(parts[:n]) for n in range(1, len(parts) + 1)]
    wanted = [
        (home + pattern[1:] if home and pattern.startswith("~") else pattern).replace("\\", "/").rstrip("/")
        for pattern in patterns
    ]
    return any(fnmatchcase(place, pattern) for place in places for pattern in wanted if pattern)
