"""Data, golden files and random instances shared by the tests."""

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

# Several processes share the cores: threads of linear algebra would wait for one another most of the time.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import numpy as np
import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

gc.disable()  # until all is collected, of which nothing is ever garbage
ROOT = Path(__file__).resolve().parents[1]
QUICK = {"unit", "oracle", "golden", "property"}
GOLDEN_HERE = Path(__file__).parent / "golden"

# Tests start a hundred processes, none of which should translate all modules again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Real data are not ours to redistribute: tests read them from this folder and skip, with a reason, without it.
os.environ.setdefault("IMRC_DATA", str(ROOT.parent / "shared" / "data" / "raw"))
# Tests neither read nor write the results somebody keeps on this computer.
os.environ["IMRC_STORE"] = str(ROOT / "tests" / "no-such-store.sqlite")
# How long one example takes says nothing on a busy machine.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


def golden_files() -> list[Path]:
    """Return the stored outputs of the authors' code: those kept here, and more beside the data where present."""
    files = {path.stem: path for path in sorted(GOLDEN_HERE.glob("*.npz"))}
    beside = Path(os.environ["IMRC_DATA"]).parents[1] / "reference" / "golden"
    files.update({path.stem: path for path in sorted(beside.glob("*.npz"))})
    return [files[name] for name in sorted(files)]


def run_python(*words: str, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, which must end well, with the paths of this one."""
    paths = {"PYTHONPATH": os.pathsep.join(path for path in [str(ROOT), *sys.path] if path)}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=os.environ | paths | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="session")
def compiled() -> None:
    """Every kernel is compiled: for tests with limits of time or with processes side by side. See below."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Compile once before there are several processes: side by side each would compile for itself."""
    start = "import imrc; tasks = imrc.datasets.load('identical', tasks=5, samples=60); imrc.evaluate(tasks, n=5, "
    # Kernels of log loss, and all others.
    others = (
        "preset='paper', methods=('imrc', *imrc.baselines.PUBLISHED), repetitions=1); imrc.diagnostics.assess(tasks)"
    )
    compiling = [subprocess.Popen([sys.executable, "-c", start + one], cwd=ROOT) for one in ("repetitions=1)", others)]
    # The same for modules that were installed without being translated: who collects the tests imports nearly all.
    if not Path(find_spec("streamlit").cached).exists():
        collect = "-m", "pytest", *config.invocation_params.args, "--collect-only", "-n0"
        subprocess.run([sys.executable, *collect], stdout=subprocess.DEVNULL, check=False)
    assert [one.wait() for one in compiling] == [0, 0]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as quick what needs no page, no process and hardly a second; put first what takes longest."""
    items.sort(key=lambda item: item.get_closest_marker("first") is None)
    for item in items:
        if item.path.parent.name in QUICK and not item.get_closest_marker("slow"):
            item.add_marker("quick")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Compile where a test asks for it, before the first one: limits of tests are for running, not for compiling."""
    gc.freeze()
    gc.enable()
    wanted = any("compiled" in getattr(item, "fixturenames", ()) for item in session.items)
    if wanted and not session.config.option.collectonly:
        from imrc.solvers import warm_up

        warm_up()


@pytest.fixture
def real_data() -> Path:
    """Folder of the real datasets; skips where it is absent."""
    folder = Path(os.environ["IMRC_DATA"])
    if not folder.is_dir():
        pytest.skip(f"real datasets not found: IMRC_DATA={folder} is no folder")
    return folder


@pytest.fixture
def nothing_here(tmp_path, monkeypatch) -> Path:
    """A computer without any data file; the folder of downloads."""
    monkeypatch.setenv("IMRC_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("IMRC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def two_threads() -> Iterator[None]:
    """Linear algebra may use two threads, as in a process of its own."""
    with threadpool_limits(2):
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    """Generator with a fixed seed."""
    return np.random.default_rng(20231)
