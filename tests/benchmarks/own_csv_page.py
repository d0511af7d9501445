"""The page "Your data" with a CSV of 50 MB in a real browser: seconds from the upload to the finished page, and memory.

Starts a server of its own on this machine, uploads the file once per kind, and stops the server. Writes
results/own_csv_page.csv. Linux; needs Chromium.
"""

from __future__ import annotations

import csv
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import streamlit
from own_csv import make

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).parent / "results" / "own_csv_page.csv"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


def peak_mb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) // 1024


def main() -> None:
    from playwright.sync_api import sync_playwright

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    rows = []
    for kind in ("numbers", "mixed"):
        server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
                path = Path(folder) / f"{kind}.csv"
                make(kind, path)
                browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
                page = browser.new_page()
                page.set_default_timeout(120_000)
                page.goto(f"http://127.0.0.1:{port}/?dataset=identical&k=3&repetitions=1")
                page.get_by_text("learning forward and backward").first.wait_for()
                page.get_by_role("link", name="Your data").click()
                page.get_by_role("button", name="Try the sample file").wait_for()
                before = peak_mb(server.pid)
                started = time.perf_counter()
                page.locator("input[type=file]").set_input_files(path)
                page.get_by_text("500,000 rows, 12 columns").wait_for()
                opened = time.perf_counter()
                page.get_by_text("What becomes of each column").first.wait_for()
                done = time.perf_counter()
                rows.append(
                    {
                        "file": kind, "mb": round(path.stat().st_size / 1e6, 1), "opened_s": round(opened - started, 2),
                        "shown_s": round(done - started, 2), "server_mb_before": before,
                        "server_mb_peak": peak_mb(server.pid),
                        "versions": f"Python {platform.python_version()}, streamlit {streamlit.__version__}",
                    }
                )  # fmt: skip
                print(rows[-1])
                browser.close()
        finally:
            server.terminate()
            server.wait(10)
    with RESULTS.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
