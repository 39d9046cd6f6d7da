"""Feature matrices from pictures and texts, by networks that lie on this machine. Nothing is downloaded.

    from metrics import METRICS
    from metrics.features import clip_embeddings, inception_features

    texts, images = clip_embeddings(["кот спит"], [Path("cat.png")], model=Path("clip-folder"))
    METRICS["clip_score"].score(texts, images)
    generated = inception_features(Path("generated"), weights=Path("pt_inception.pth"))
    METRICS["fid"].score(generated, inception_features(Path("real"), weights=Path("pt_inception.pth")))

Needs torch and transformers, which are optional: `pip install -r requirements-metrics.txt`.
"""

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from metrics.inception import FEATURES, check_weights, pooled
from metrics.inputs import MetricError, checked_profile
from metrics.pictures import opened_picture, pictures_in
from metrics.vectors import Matrix

T = TypeVar("T")

INSTALL: Final = "pip install -r requirements-metrics.txt"
_REFERENCE_SIDE: Final = 256
"""The competition's code shrinks or stretches pictures to this many pixels first; others do not."""


def clip_embeddings(
    texts: Sequence[str],
    images: Sequence[Path],
    *,
    model: Path,
    templates: Sequence[str] = ("{}",),
    batch: int = 16,
) -> tuple[Matrix, Matrix]:
    """Return the embeddings of texts and of pictures: two matrices, a row for each, d columns, as the model gives them.

    `model` is a folder that transformers' `save_pretrained` wrote (CLIP or a model with the same two towers), with its
    tokenizer and image processor. With several `templates`, each with `{}` for the text, a text's embedding is the mean
    over them, not normalised before. Raises MetricError without torch or transformers, for a folder that holds no
    such model, and for a picture that cannot be read.
    """
    torch, tower, tokenizer, processor = _opened_clip(model)
    rows = []
    with torch.inference_mode():
        for some in _batches(texts, batch):
            prompts = [template.format(text) for text in some for template in templates]
            given = tokenizer(prompts, padding=True, truncation=True, return_tensors="pt")
            found = _embedding(tower.get_text_features(**given)).double().numpy()
            rows.append(found.reshape(len(some), len(templates), -1).mean(axis=1))
        seen = [_seen(tower, processor, some) for some in _batches(images, batch)]
    return _stacked(rows), _stacked(seen)


def inception_features(folder: Path, *, weights: Path, profile: str = "document", batch: int = 16) -> Matrix:
    """Return Inception v3's 2048 pooled features of every picture in a folder, a row for each, in order of file name.

    `weights` is a file of named weights (`state_dict`) as FID tools use them, converted from TensorFlow's network of
    2015. Pictures are made RGB, stretched to 299 x 299 (bilinear) and scaled to -1 to 1; `reference` stretches them to
    256 x 256 before, as the competition's code does, so that its values are comparable with no others. Raises
    MetricError without torch, for other weights, and for an empty folder or a picture that cannot be read.
    """
    side = _REFERENCE_SIDE if checked_profile(profile) == "reference" else None
    torch = required("torch")
    network = _opened_weights(torch, weights)
    rows = []
    with torch.inference_mode():
        for some in _batches(pictures_in(folder), batch):
            prepared = torch.cat([_prepared(torch, path, side) for path in some])
            rows.append(pooled(torch, prepared, network).double().numpy())
    return _stacked(rows)


def required(name: str) -> Any:
    """Return an optional package; raise MetricError that says how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MetricError(f"{name} is not installed: {INSTALL}") from error


def _opened_clip(folder: Path) -> tuple[Any, Any, Any, Any]:
    torch, transformers = required("torch"), required("transformers")
    if not folder.is_dir():
        raise MetricError(f"{folder} is no folder with a model")
    try:
        tower = transformers.AutoModel.from_pretrained(folder, local_files_only=True).eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        processor = transformers.AutoImageProcessor.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise MetricError(f"{folder} holds no model that transformers can load: {error}") from error
    if not hasattr(tower, "get_text_features") or not hasattr(tower, "get_image_features"):
        raise MetricError(f"{folder} holds {type(tower).__name__}, which does not embed texts and images")
    return torch, tower, tokenizer, processor


def _seen(tower: Any, processor: Any, paths: Sequence[Path]) -> Matrix:
    given = processor(images=[opened_picture(path) for path in paths], return_tensors="pt")
    found: Matrix = _embedding(tower.get_image_features(**given)).double().numpy()
    return found


def _embedding(found: Any) -> Any:
    # transformers 5 returns an object whose pooler_output is the projected embedding; 4 returned the tensor.
    return getattr(found, "pooler_output", found)


def _opened_weights(torch: Any, path: Path) -> Any:
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise MetricError(f"there are no weights at {path}") from error
    except Exception as error:  # torch.load raises its readers' own errors, which have no common class
        raise MetricError(f"{path} is no file of weights ({type(error).__name__})") from error
    return check_weights(found, name=path.name)


def _prepared(torch: Any, path: Path, side: int | None) -> Any:
    picture = opened_picture(path)
    if side is not None:
        picture = picture.resize((side, side), import_module("PIL.Image").Resampling.BILINEAR)
    pixels = torch.from_numpy(np.asarray(picture, dtype=np.float32) / 255).permute(2, 0, 1)[None]
    resized = torch.nn.functional.interpolate(pixels, size=(299, 299), mode="bilinear", align_corners=False)
    return resized * 2 - 1


def _batches(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def _stacked(rows: list[Matrix]) -> Matrix:
    return np.concatenate(rows) if rows else np.empty((0, FEATURES))
