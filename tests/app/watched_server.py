"""The real server with eyes on its runs: ``python tests/app/watched_server.py LOG run app.py ...``.

Every run of the library writes a line to LOG when it starts, after each step and when it ends, however it ends. A run
with seed 666 fails in its second step; one with a seed from 1000 on waits for a second at every step.
"""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from streamlit.web.cli import main

from pages.shell import running

FATAL_SEED, IDLE_SEED = 666, 1000
library_run = running.iter_run


def watching(log: TextIO) -> Callable[..., Iterator]:
    """Return a run that says to `log` what it does."""

    def watched(sequence, settings, **options) -> Iterator:
        def say(what: str) -> None:
            log.write(f"{time.monotonic():.3f} {settings.seed} {what}\n")

        say("start")
        run = library_run(sequence, settings, **options)
        try:
            for step in run:
                say(f"step {step.number}")
                time.sleep(settings.seed >= IDLE_SEED)
                if settings.seed == FATAL_SEED and step.number == 2:
                    raise RuntimeError("a failure made for a test in /secret/folder")
                yield step
            say("done")
        finally:
            run.close()
            say("end")

    return watched


if __name__ == "__main__":
    with open(sys.argv.pop(1), "a", buffering=1) as log:
        running.iter_run = watching(log)
        sys.exit(main(prog_name="streamlit"))
