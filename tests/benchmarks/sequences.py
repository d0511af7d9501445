"""The 21 sequences that learners are compared on, as they are cut.

Real datasets are read from $IMRC_DATA, the five streams from the folder $IMRC_STREAMS (name.csv.gz, label last, blocks
of 300 rows).
"""

import gzip
import os
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

import imrc

BUILT_IN = ["rotated_digits", *imrc.datasets.names("synthetic")]
STREAMS = ("rialto", "movingsquares", "chess", "sea", "luxembourg")


@dataclass(frozen=True)
class Setting:
    """A dataset and the tasks used."""

    dataset: str
    tasks: int = 20
    first: int = 0

    def load(self, seed: int) -> imrc.TaskSequence:
        """Return the tasks; the seed decides the data of synthetic sequences."""
        if self.dataset in BUILT_IN:
            return imrc.datasets.load(self.dataset, tasks=self.tasks, seed=seed)
        if self.dataset in STREAMS:
            return _stream(self.dataset).head(self.tasks)
        sequence = _real(self.dataset, seed if self.dataset == "rotated_mnist" else 0)
        tasks = sequence.tasks[self.first : self.first + self.tasks]
        return replace(sequence, tasks=tasks)


@lru_cache(maxsize=1)
def _real(name: str, seed: int) -> imrc.TaskSequence:
    return imrc.datasets.load(name, seed=seed, **({"tasks": 15} if name == "rotated_mnist" else {}))


@cache
def _stream(name: str) -> imrc.TaskSequence:
    content = (Path(os.environ["IMRC_STREAMS"]) / f"{name}.csv.gz").read_bytes()
    label = gzip.decompress(content).split(b"\n", 1)[0].decode().strip().split(",")[-1]
    return imrc.tasks_from(content, target=label, every=300, name=name)


SEQUENCES: tuple[Setting, ...] = (
    *(Setting(name, 5) for name in ("usenet1", "usenet2")),
    Setting("german", 3),
    Setting("spam"),
    Setting("power_supply", 20, 40),
    Setting("weather", 20, 25),
    Setting("covertype_excerpt"),
    Setting("rotated_mnist", 15),
    *(Setting(name) for name in (*BUILT_IN, *STREAMS)),
)
