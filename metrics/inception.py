"""Inception v3 up to its last pooling, from a file of named weights, in the variant that FID is measured with.

Layers and their names: Szegedy et al., Rethinking the Inception Architecture for Computer Vision, 2016, as in
torchvision. The variant is TensorFlow's of 2015: average pools do not count the border they add, and the last block
pools by the maximum. torch is handed in, so that importing this module needs none.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from metrics.inputs import MetricError

FEATURES: Final = 2048
_EPSILON: Final = 0.001
_UNPADDED: Final = ("Conv2d_1a_3x3", "Conv2d_2a_3x3", "Conv2d_4a_3x3")
_PARTS: Final = ("conv.weight", "bn.weight", "bn.bias", "bn.running_mean", "bn.running_var")

Chain = tuple[str, ...]
_A: Final[tuple[Chain, ...]] = (
    ("branch1x1",),
    ("branch5x5_1", "branch5x5_2"),
    ("branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"),
)
_C: Final[tuple[Chain, ...]] = (
    ("branch1x1",),
    ("branch7x7_1", "branch7x7_2", "branch7x7_3"),
    ("branch7x7dbl_1", "branch7x7dbl_2", "branch7x7dbl_3", "branch7x7dbl_4", "branch7x7dbl_5"),
)
_E: Final[tuple[Chain, ...]] = (
    ("branch1x1",),
    ("branch3x3_1", "branch3x3_2a|branch3x3_2b"),
    ("branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3a|branch3x3dbl_3b"),
)
BLOCKS: Final[Mapping[str, tuple[tuple[Chain, ...], str]]] = {
    "Mixed_5b": (_A, "average"),
    "Mixed_5c": (_A, "average"),
    "Mixed_5d": (_A, "average"),
    "Mixed_6a": ((("branch3x3",), ("branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3")), "halve"),
    "Mixed_6b": (_C, "average"),
    "Mixed_6c": (_C, "average"),
    "Mixed_6d": (_C, "average"),
    "Mixed_6e": (_C, "average"),
    "Mixed_7a": (
        (
            ("branch3x3_1", "branch3x3_2"),
            ("branch7x7x3_1", "branch7x7x3_2", "branch7x7x3_3", "branch7x7x3_4"),
        ),
        "halve",
    ),
    "Mixed_7b": (_E, "average"),
    "Mixed_7c": (_E, "maximum"),
}
"""Block -> its chains of convolutions, side by side, and its pooling; `|` splits the end of a chain in two."""
STEM: Final = (
    "Conv2d_1a_3x3",
    "Conv2d_2a_3x3",
    "Conv2d_2b_3x3",
    "halve",
    "Conv2d_3b_1x1",
    "Conv2d_4a_3x3",
    "halve",
)

Weights = Mapping[str, Any]


def check_weights(found: object, *, name: str) -> Weights:
    """Return weights that hold every layer; raise MetricError naming what is missing."""
    if not isinstance(found, Mapping):
        raise MetricError(f"{name} holds {type(found).__name__}, not named weights")
    missing = [f"{layer}.{part}" for layer in layers() for part in _PARTS if f"{layer}.{part}" not in found]
    if missing:
        raise MetricError(f"{name} holds no Inception v3: {missing[0]} is missing ({len(missing)} in all)")
    return found


def layers() -> list[str]:
    """Return the names of all convolutions."""
    stem = [name for name in STEM if name != "halve"]
    return stem + [f"{block}.{one}" for block in BLOCKS for one in _layers_of(block)]


def pooled(torch: Any, pictures: Any, weights: Weights) -> Any:
    """Return n x 2048 features of n x 3 x 299 x 299 pictures with values from -1 to 1."""
    convolved = partial(_convolved, torch.nn.functional, weights=weights)
    seen = pictures
    for layer in STEM:
        seen = _pool(torch.nn.functional, seen, layer) if layer == "halve" else convolved(seen, layer)
    for block, (chains, pooling) in BLOCKS.items():
        ends = [end for chain in chains for end in _chained(convolved, seen, block, chain)]
        side = _pool(torch.nn.functional, seen, pooling)
        seen = torch.cat([*ends, side if pooling == "halve" else convolved(side, f"{block}.branch_pool")], 1)
    return seen.mean(dim=(2, 3))


def _layers_of(block: str) -> list[str]:
    chains, pooling = BLOCKS[block]
    found = [one for chain in chains for link in chain for one in link.split("|")]
    return found if pooling == "halve" else [*found, "branch_pool"]


def _chained(convolved: Any, seen: Any, block: str, chain: Chain) -> list[Any]:
    *links, last = chain
    for link in links:
        seen = convolved(seen, f"{block}.{link}")
    return [convolved(seen, f"{block}.{end}") for end in last.split("|")]


def _convolved(functional: Any, seen: Any, layer: str, *, weights: Weights) -> Any:
    kernel, scale, shift, mean, variance = (weights[f"{layer}.{part}"] for part in _PARTS)
    stride = 2 if _halves(layer) else 1
    is_padded = stride == 1 and layer not in _UNPADDED
    padding = [side // 2 if is_padded else 0 for side in kernel.shape[2:]]
    found = functional.conv2d(seen, kernel, stride=stride, padding=padding)
    return functional.relu(functional.batch_norm(found, mean, variance, scale, shift, eps=_EPSILON))


def _halves(layer: str) -> bool:
    block, _, name = layer.rpartition(".")
    if block not in BLOCKS:
        return layer == STEM[0]
    chains, pooling = BLOCKS[block]
    return pooling == "halve" and name in [chain[-1] for chain in chains]


def _pool(functional: Any, seen: Any, kind: str) -> Any:
    if kind == "halve":
        return functional.max_pool2d(seen, 3, stride=2)
    if kind == "maximum":
        return functional.max_pool2d(seen, 3, stride=1, padding=1)
    return functional.avg_pool2d(seen, 3, stride=1, padding=1, count_include_pad=False)
