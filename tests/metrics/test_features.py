"""Features from pictures and texts, by tiny networks made here; without torch, what to install."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from metrics import METRICS, MetricError
from metrics.features import clip_embeddings, inception_features
from metrics.inception import BLOCKS, STEM, check_weights, layers
from metrics.pictures import opened_picture, pictures_in

NEEDS_TORCH = "torch is optional: pip install -r requirements-metrics.txt"


def picture(path: Path, *, seed: int, size: tuple[int, int] = (40, 30)) -> Path:
    pixels = np.random.default_rng(seed).integers(0, 256, (*size[::-1], 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)
    return path


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for seed in range(4):
        picture(folder / f"{seed}.png", seed=seed)
    return folder


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_without_a_package_the_message_says_what_to_install(
    pictures: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, "torch", sys.modules[__name__])
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MetricError) as caught:
        clip_embeddings(["кот"], pictures_in(pictures), model=pictures)
    assert str(caught.value) == f"{package} is not installed: pip install -r requirements-metrics.txt"


def test_fid_from_pictures_without_torch_says_what_to_install(
    pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MetricError) as caught:
        inception_features(pictures, weights=pictures / "none.pth")
    assert str(caught.value) == "torch is not installed: pip install -r requirements-metrics.txt"


def test_everything_else_works_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert METRICS["clip_score"].score([[1.0, 0.0]], [[2.0, 0.0]]) == 1.0
    assert METRICS["fid"].score([[0.0], [2.0]], [[1.0], [3.0]]) == pytest.approx(1.0)
    assert METRICS["captioning_meteor"].score("кот спит", ["кот спит"]) == 1.0


def test_pictures_come_in_order_of_name_as_rgb(tmp_path: Path) -> None:
    for name, mode in (("b.png", "RGBA"), ("a.jpg", "L"), ("c.txt", None)):
        Image.new(mode, (3, 2)).save(tmp_path / name) if mode else (tmp_path / name).write_text("")
    assert [path.name for path in pictures_in(tmp_path)] == ["a.jpg", "b.png"]
    assert [opened_picture(path).mode for path in pictures_in(tmp_path)] == ["RGB", "RGB"]


def test_a_folder_without_pictures_is_named(tmp_path: Path) -> None:
    with pytest.raises(MetricError, match="holds no picture"):
        pictures_in(tmp_path)
    with pytest.raises(MetricError, match="is no folder of pictures"):
        pictures_in(tmp_path / "none")


def test_a_broken_picture_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(b"not a picture")
    with pytest.raises(MetricError, match=r"x\.png cannot be read as a picture"):
        opened_picture(tmp_path / "x.png")


def test_other_weights_are_named() -> None:
    with pytest.raises(MetricError) as caught:
        check_weights({"Conv2d_1a_3x3.conv.weight": 1}, name="w.pth")
    assert str(caught.value) == (
        "w.pth holds no Inception v3: Conv2d_1a_3x3.bn.weight is missing (469 in all)"
    )
    with pytest.raises(MetricError, match="holds list, not named weights"):
        check_weights([], name="w.pth")


def test_the_network_has_94_convolutions() -> None:
    assert (len(layers()), len(set(layers()))) == (94, 94)


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason=NEEDS_TORCH)


CHANNELS = 4


def channels_into(block: str, width: int) -> tuple[dict[str, int], int]:
    """Return how many channels each convolution of a block takes, and how many the block gives."""
    chains, pooling = BLOCKS[block]
    into = {
        f"{block}.{end}": width if place == 0 else CHANNELS
        for chain in chains
        for place, link in enumerate(chain)
        for end in link.split("|")
    }
    ends = sum(len(chain[-1].split("|")) for chain in chains)
    if pooling == "halve":
        return into, ends * CHANNELS + width
    return into | {f"{block}.branch_pool": width}, (ends + 1) * CHANNELS


def tiny_inception(torch: Any) -> dict[str, Any]:
    """Return weights of the network with four channels in every layer."""
    into = {name: 3 if place == 0 else CHANNELS for place, name in enumerate(n for n in STEM if n != "halve")}
    width = CHANNELS
    for block in BLOCKS:
        more, width = channels_into(block, width)
        into |= more
    torch.manual_seed(1)
    found = {}
    for name in layers():
        found[f"{name}.conv.weight"] = torch.randn(CHANNELS, into[name], 3, 3) / (3 * into[name] ** 0.5)
        for part in ("weight", "running_var"):
            found[f"{name}.bn.{part}"] = torch.rand(CHANNELS) + 0.5
        for part in ("bias", "running_mean"):
            found[f"{name}.bn.{part}"] = torch.randn(CHANNELS) / 10
    return found


def test_inception_features_are_a_row_for_each_picture(torch: Any, pictures: Path, tmp_path: Path) -> None:
    torch.save(tiny_inception(torch), tmp_path / "w.pth")
    rows = inception_features(pictures, weights=tmp_path / "w.pth")
    in_batches = inception_features(pictures, weights=tmp_path / "w.pth", batch=3)
    assert rows.shape == (4, 24)
    assert rows.dtype == np.float64
    assert np.allclose(rows, in_batches, rtol=1e-4, atol=1e-5)
    assert METRICS["fid"].score(rows, rows) == pytest.approx(0, abs=1e-9)


def test_the_competition_stretches_pictures_first(torch: Any, pictures: Path, tmp_path: Path) -> None:
    torch.save(tiny_inception(torch), tmp_path / "w.pth")
    by_document, by_code = (
        inception_features(pictures, weights=tmp_path / "w.pth", profile=profile)
        for profile in ("document", "reference")
    )
    assert by_document.shape == by_code.shape
    assert not np.allclose(by_document, by_code)


@pytest.mark.parametrize("content", [b"", b"not weights"])
def test_broken_weights_are_named(torch: Any, pictures: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "w.pth").write_bytes(content)
    with pytest.raises(MetricError, match=r"w\.pth is no file of weights"):
        inception_features(pictures, weights=tmp_path / "w.pth")
    with pytest.raises(MetricError, match="there are no weights at"):
        inception_features(pictures, weights=tmp_path / "none.pth")


@pytest.fixture
def clip_folder(torch: Any, tmp_path: Path) -> Path:
    """Return a folder with a CLIP of 16 numbers, its weights drawn at random."""
    transformers = pytest.importorskip("transformers", reason=NEEDS_TORCH)
    folder = tmp_path / "clip"
    folder.mkdir()
    size = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    words = ["<|startoftext|>", "<|endoftext|>", *"abcdefgh", *(f"{letter}</w>" for letter in "abcdefgh")]
    torch.manual_seed(2)
    config = transformers.CLIPConfig(
        text_config={
            **size,
            "vocab_size": len(words),
            "bos_token_id": 0,
            "eos_token_id": 1,
            "pad_token_id": 1,
        },
        vision_config={**size, "image_size": 32, "patch_size": 16},
        projection_dim=8,
    )
    transformers.CLIPModel(config).save_pretrained(folder)
    (folder / "vocab.json").write_text(json.dumps({word: index for index, word in enumerate(words)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    transformers.CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt")).save_pretrained(folder)
    processor = transformers.CLIPImageProcessor(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    )
    processor.save_pretrained(folder)
    return folder


def test_clip_score_of_pictures_and_texts(clip_folder: Path, pictures: Path) -> None:
    texts, images = clip_embeddings(["a b", "c", "d e f", "g"], pictures_in(pictures), model=clip_folder)
    assert texts.shape == images.shape == (4, 8)
    score = METRICS["clip_score"].score(texts, images)
    each = [METRICS["clip_score"].score(*pair) for pair in zip(texts, images, strict=True)]
    assert score == pytest.approx(np.mean(each))
    assert len({round(one, 9) for one in each}) == 4


def test_templates_are_averaged_before_normalising(clip_folder: Path, pictures: Path) -> None:
    def embedded(*templates: str) -> np.ndarray:
        return clip_embeddings(["a", "b"], [], model=clip_folder, templates=templates)[0]

    both = embedded("{}", "c {}")
    assert np.allclose(both, (embedded("{}") + embedded("c {}")) / 2, atol=1e-6)


def test_a_folder_without_a_model_is_named(torch: Any, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason=NEEDS_TORCH)
    with pytest.raises(MetricError, match="holds no model that transformers can load"):
        clip_embeddings(["a"], [], model=tmp_path)
    with pytest.raises(MetricError, match="is no folder with a model"):
        clip_embeddings(["a"], [], model=tmp_path / "none")


def test_fid_equals_torchmetrics(torch: Any) -> None:
    image = pytest.importorskip(
        "torchmetrics.image.fid", reason="torchmetrics is no dependency: pip install torchmetrics"
    )

    class Flat(torch.nn.Module):
        num_features = 12

        def forward(self, rows: Any) -> Any:
            return rows.flatten(1)

    draw = np.random.default_rng(3)
    real, generated = draw.standard_normal((40, 12)), draw.standard_normal((30, 12)) * 1.5 + 0.2
    theirs = image.FrechetInceptionDistance(feature=Flat(), input_img_size=(1, 3, 4)).set_dtype(torch.float64)
    theirs.update(torch.from_numpy(real), real=True)
    theirs.update(torch.from_numpy(generated), real=False)
    assert METRICS["fid"].score(generated, real) == pytest.approx(float(theirs.compute()), rel=1e-6)
