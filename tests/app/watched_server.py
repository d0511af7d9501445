"""The real server with eyes on its runs: ``python tests/app/watched_server.py LOG run app.py ...``.

Every run of the library writes a line to LOG when it starts, after each step and when it ends, however it ends. A run
with seed 666 fails in its second step.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from streamlit.web.cli import main

from pages.ui import running

FATAL_SEED = 666
log = open(sys.argv.pop(1), "a", buffering=1)  # noqa: SIM115 - as long as the server runs
library_run = running.iter_run


def watched(sequence, settings, **options) -> Iterator:
    def say(what: str) -> None:
        log.write(f"{time.monotonic():.3f} {settings.seed} {what}\n")

    say("start")
    run = library_run(sequence, settings, **options)
    try:
        for step in run:
            say(f"step {step.number}")
            if settings.seed == FATAL_SEED and step.number == 2:
                raise RuntimeError("a failure made for a test in /secret/folder")
            yield step
        say("done")
    finally:
        run.close()
        say("end")


running.iter_run = watched
sys.exit(main(prog_name="streamlit"))
