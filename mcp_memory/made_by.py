"""With what the vectors of tables were made. A small file beside the tables says it, so that it moves with them."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from .disk import sync

FILE_NAME = "made_by.json"
# Two runs of one model differ by less than this in a number of a vector; other weights by far more.
_TOLERANCE = 1e-4


@dataclass(frozen=True, slots=True)
class MadeBy:
    """A model's name, the length of its vectors, and what was put before each text.

    `sample` is the beginning of the vector of a text that is always the same: it tells weights apart that go by one
    name. () where it is not known.
    """

    model: str
    dimension: int
    document_prompt: str = ""
    sample: tuple[float, ...] = ()

    def is_as_recorded(self, other: "MadeBy") -> bool:
        """Whether model, dimension and prompt are the same; of their weights nothing is said."""
        named = self.model, self.dimension, self.document_prompt
        return named == (other.model, other.dimension, other.document_prompt)

    def has_weights_of(self, other: "MadeBy") -> bool:
        """Whether the same text became the same vector; False where that is not known of both."""
        if not self.sample or len(self.sample) != len(other.sample):
            return False
        return all(abs(one - two) <= _TOLERANCE for one, two in zip(self.sample, other.sample, strict=True))

    def may_go_on_with(self, other: "MadeBy") -> bool:
        """Whether vectors of both may lie in one table."""
        return self.is_as_recorded(other) and self.has_weights_of(other)


def read_made_by(folder: Path) -> MadeBy | None:
    """What a folder of tables says of itself, None where it says nothing that can be read."""
    try:
        found = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
        sample = tuple(float(number) for number in found["sample"])
        return MadeBy(str(found["model"]), int(found["dimension"]), str(found["document_prompt"]), sample)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_made_by(folder: Path, made_by: MadeBy) -> None:
    """Have a folder of tables say what they were made with, durably; the folder is made where there is none.

    Raises:
        OSError: it cannot be written; what was said before still holds.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    draft = folder / f"{FILE_NAME}.draft"
    draft.write_text(json.dumps(asdict(made_by), ensure_ascii=False), encoding="utf-8")
    sync(draft)
    draft.replace(folder / FILE_NAME)
    sync(folder)
