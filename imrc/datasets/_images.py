"""Features of images from a ResNet18: needs the optional extra ``imrc[images]`` (torch, torchvision, pillow)."""

from __future__ import annotations

import hashlib
import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from imrc._checks import check_int
from imrc._folders import cache_folder, replacing
from imrc.datasets._catalogue import CatalogueEntry, facts
from imrc.datasets.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

Backbone = Callable[[NDArray[np.float32]], NDArray[np.float32]]
"""From images (n, 3, 224, 224), normalised, to features (n, 512)."""

IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".webp")
SIZE = 224
# Mean and standard deviation of ImageNet's channels, with which the network was trained.
_MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)[:, None, None]
_STD = np.array([0.229, 0.224, 0.225], dtype=np.float32)[:, None, None]
NOISE_FACTORS = tuple(0.4 * j for j in range(10))
NOISE_STD = 0.1
DOMAINS = ("real", "painting", "infograph", "clipart", "sketch", "quickdraw")


@dataclass(frozen=True)
class ImageItem:
    """One image: its file, its class as a position in the catalogue's class names, its task, and the noise added to it.

    Tasks count from 0; -1 if they are blocks of rows. The noise is the standard deviation of Gaussian noise added to
    pixels in [0, 1].
    """

    path: Path
    label: int
    task: int = -1
    noise: float = 0.0


def _images_in(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise DataError(f"There is no folder {folder}.")
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in IMAGE_ENDINGS and path.is_file())


def _by_class(folder: Path, entry: CatalogueEntry) -> list[tuple[Path, int]]:
    """Images in one subfolder per class, whatever the case of its name."""
    subfolders = {path.name.lower().replace(" ", "_"): path for path in folder.iterdir() if path.is_dir()}
    found = []
    for label, name in enumerate(entry.class_names):
        if name not in subfolders:
            raise DataError(
                f"{folder} should hold a folder {name!r}; it holds {', '.join(sorted(subfolders)) or 'none'}."
            )
        found += [(path, label) for path in _images_in(subfolders[name])]
    return found


def _utkfaces(folder: Path, _: CatalogueEntry) -> list[ImageItem]:
    named = []
    for path in _images_in(folder):
        match = re.match(r"(\d+)_([01])_", path.name)
        if match is None:
            raise DataError(f"{path.name}: the name should be age_gender_race_date.jpg. Move the file elsewhere.")
        named.append((int(match[1]), path.name, path, int(match[2])))
    return [ImageItem(path, gender) for _, _, path, gender in sorted(named)]


def _yearbook(folder: Path, _: CatalogueEntry) -> list[ImageItem]:
    named = []
    for label, name in enumerate(("F", "M")):
        for path in _images_in(folder / name):
            match = re.match(r"(\d{4})", path.name)
            if match is None:
                raise DataError(f"{name}/{path.name}: the name should begin with the year.")
            named.append((int(match[1]), path.name, path, label))
    return [ImageItem(path, label) for _, _, path, label in sorted(named)]


def _by_task(folder: Path, entry: CatalogueEntry) -> list[ImageItem]:
    """Images in one subfolder per task, with one per class in each."""
    tasks = DOMAINS if entry.name == "domainnet" else [str(j + 1) for j in range(entry.tasks)]
    return [
        ImageItem(path, label, task)
        for task, name in enumerate(tasks)
        for path, label in _by_class(folder / name, entry)
    ]


def _imagenet_noise(folder: Path, entry: CatalogueEntry) -> list[ImageItem]:
    """Every image belongs to one task; classes are dealt out evenly over the tasks."""
    items = []
    generator = np.random.default_rng(18)
    per_class: list[list[Path]] = [[] for _ in entry.class_names]
    for path, label in _by_class(folder, entry):
        per_class[label].append(path)
    for label, paths in enumerate(per_class):
        for position, index in enumerate(generator.permutation(len(paths))):
            task = position % entry.tasks
            items.append(ImageItem(paths[index], label, task, NOISE_STD * NOISE_FACTORS[task]))
    return sorted(items, key=lambda item: (item.task, item.label, item.path.name))


_LISTERS: dict[str, Callable[[Path, CatalogueEntry], list[ImageItem]]] = {
    "utkfaces": _utkfaces,
    "yearbook": _yearbook,
    "domainnet": _by_task,
    "clear": _by_task,
    "imagenet_noise": _imagenet_noise,
}


def list_images(name: str, folder: str | Path) -> list[ImageItem]:
    """Return the images of a dataset in the order of its tasks, with labels; `folder` is as `facts` describes it.

    Raises DataError if the folder does not hold what is described.
    """
    entry = facts(name)
    if name not in _LISTERS:
        raise DataError(f"{entry.title} is not made from images; {', '.join(_LISTERS)} are.")
    items = _LISTERS[name](Path(folder).expanduser(), entry)
    if not items:
        raise DataError(f"{folder} holds no images ({', '.join(IMAGE_ENDINGS)}). It should be {entry.images}.")
    return items


def prepare(image: Image, noise: float = 0.0, seed: int = 0) -> NDArray[np.float32]:
    """Return one image as the network wants it, (3, 224, 224): short side 256, the middle, RGB, normalised.

    Noise of this standard deviation is added to pixels in [0, 1], which are then limited to [0, 1].
    """
    rgb = image.convert("RGB")
    scale = 256 / min(rgb.size)
    rgb = rgb.resize((max(256, round(rgb.width * scale)), max(256, round(rgb.height * scale))), resample=2)
    left, top = (rgb.width - SIZE) // 2, (rgb.height - SIZE) // 2
    pixels = np.asarray(rgb.crop((left, top, left + SIZE, top + SIZE)), dtype=np.float32) / 255.0
    if noise > 0:
        pixels = pixels + np.random.default_rng(seed).normal(0.0, noise, pixels.shape).astype(np.float32)
        pixels = np.clip(pixels, 0.0, 1.0)
    return np.asarray((pixels.transpose(2, 0, 1) - _MEAN) / _STD, dtype=np.float32)


def resnet18(weights: str = "IMAGENET1K_V1") -> Backbone:
    """Return torchvision's ResNet18 without its last layer, as a function on arrays.

    `weights` is torchvision's name of the weights, which it downloads when first used; "random" for a network that has
    learnt nothing (for trying things out). Raises DataError if torch is not installed, or the weights cannot be had.
    """
    try:
        torch: Any = importlib.import_module("torch")
        models: Any = importlib.import_module("torchvision.models")
    except ImportError:
        raise DataError(
            "Features of images need torch and torchvision. Install them with: pip install 'imrc[images]'"
        ) from None
    try:
        if weights == "random":
            torch.manual_seed(0)
        network = models.resnet18(weights=None if weights == "random" else weights)
    except Exception as error:  # torchvision lets errors of the network, the disk and the cache through
        first = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise DataError(
            f"The weights {weights!r} of ResNet18 cannot be had ({first}). Is this computer online?"
        ) from None
    network.fc = torch.nn.Identity()
    network.eval()

    def features(batch: NDArray[np.float32]) -> NDArray[np.float32]:
        with torch.inference_mode():
            result: NDArray[np.float32] = network(torch.from_numpy(batch)).numpy()
        return result

    return features


def _noise_seed(item: ImageItem) -> int:
    # The same noise for an image whenever and wherever the extraction is taken up again.
    return int.from_bytes(hashlib.sha256(item.path.name.encode()).digest()[:8], "big")


def _batch(items: Sequence[ImageItem]) -> NDArray[np.float32]:
    from PIL import Image, UnidentifiedImageError

    prepared = []
    for item in items:
        try:
            with Image.open(item.path) as image:
                prepared.append(prepare(image, item.noise, _noise_seed(item)))
        except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
            raise DataError(f"{item.path} is not a readable image ({error}). Replace or remove it.") from None
    return np.stack(prepared)


def _save(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    with replacing(path) as part, part.open("wb") as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def _signature(items: Sequence[ImageItem]) -> str:
    text = "\n".join(f"{item.path.name}|{item.label}|{item.task}|{item.noise:.6f}" for item in items)
    return hashlib.sha256(text.encode()).hexdigest()


def _resume(partial: Path, signature: str) -> NDArray[np.float32] | None:
    """Features already extracted from the same images, or None."""
    from imrc.datasets._arrays import read_npz

    if not partial.is_file():
        return None
    try:
        arrays = read_npz(partial.read_bytes())
    except DataError:
        return None  # cut short when the computer stopped: begin again
    if str(arrays.get("signature")) != signature:
        return None
    return np.asarray(arrays["features"], dtype=np.float32)


def extract_features(
    name: str,
    folder: str | Path,
    *,
    output: str | Path | None = None,
    backbone: Backbone | None = None,
    batch_size: int = 64,
    save_every: int = 20,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Turn the images of a dataset into 512 features each, in a file `load` then finds.

    Features are saved as they come; when the extraction is stopped and called again it goes on where it was.

    Parameters
    ----------
    name : str
        "yearbook", "imagenet_noise", "domainnet", "utkfaces" or "clear".
    folder : path
        The folder described by ``facts(name).images``.
    output : path, optional
        The NPZ file to write; default its place in the cache.
    backbone : callable, optional
        From images (n, 3, 224, 224) to features (n, D); default `resnet18`, which needs ``imrc[images]``.
    batch_size : int
        Images at a time, 1 to 1024.
    save_every : int
        Batches between two savings.
    progress : callable, optional
        Called with (images done, images in all).

    Returns
    -------
    Path
        The file: arrays ``features`` (n, D) float32, ``labels`` (n,), ``tasks`` (n,), ``filenames`` (n,).

    Raises
    ------
    DataError
        If the folder or an image is not what it should be, or torch is missing.
    """
    batch_size = check_int("batch_size", batch_size, 1, 1024)
    save_every = check_int("save_every", save_every, 1)
    entry = facts(name)
    items = list_images(name, folder)
    own = next(file for file in entry.files if file.path.endswith(".npz"))
    target = Path(output).expanduser() if output is not None else cache_folder() / own.path
    partial, signature = target.with_name(f"{target.stem}.partial.npz"), _signature(items)
    done = _resume(partial, signature)
    parts = [] if done is None else [done]
    count = sum(map(len, parts))
    network = backbone if backbone is not None or count == len(items) else resnet18()
    since_saved = 0
    if progress is not None:
        progress(count, len(items))
    for start in range(count, len(items), batch_size):
        assert network is not None  # noqa: S101 - for the type checker; set above whenever images are left
        part = np.asarray(network(_batch(items[start : start + batch_size])), dtype=np.float32)
        parts.append(part.reshape(len(part), -1))
        since_saved += 1
        count = min(start + batch_size, len(items))
        if since_saved >= save_every and count < len(items):
            parts = [np.concatenate(parts)]
            _save(partial, {"features": parts[0], "signature": np.array(signature)})
            since_saved = 0
        if progress is not None:
            progress(count, len(items))
    arrays: dict[str, NDArray[Any]] = {
        "features": np.concatenate(parts),
        "labels": np.array([item.label for item in items], dtype=np.int64),
        "filenames": np.array([item.path.name for item in items]),
    }
    if not entry.task_rows:
        arrays["tasks"] = np.array([item.task for item in items], dtype=np.int64)
        arrays["task_names"] = np.array(_task_names(entry))
    _save(target, arrays)
    partial.unlink(missing_ok=True)
    return target


def _task_names(entry: CatalogueEntry) -> list[str]:
    if entry.name == "domainnet":
        return list(DOMAINS)
    if entry.name == "imagenet_noise":
        return [f"noise {factor:.1f}" for factor in NOISE_FACTORS]
    return [f"bucket {j + 1}" for j in range(entry.tasks)]
