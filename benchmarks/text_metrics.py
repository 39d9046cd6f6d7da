"""How fast are the text metrics? Each beside a plain implementation, or a well-known library, on the same pairs.

Run `python benchmarks/text_metrics.py [--pairs 10000] [--together 60000] [--jobs 2]`. The pairs are drawn
from a small vocabulary, with inflected words, so that there is something to match. The plain ones are written as the
competition's documents describe the metrics: no cache, every answer prepared anew for every reference. Both sides must
give the same values.
"""

import argparse
import os
import random
import string
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pymorphy3
import razdel
import snowballstemmer
from nltk.metrics.distance import edit_distance
from nltk.translate.meteor_score import single_meteor_score

from metrics import METRICS
from metrics.competition.spread import Pair, scored

VOCABULARY = """
кот коты кошка собака собаки дом дома домик машина машины красивый красивые большой рыжий рыжая спит спят бежит на по в
у реке река две утки утка плывут плывёт дерево деревья стол стоит дороги дорога синий зелёная ёлка девочка мальчик
играет мяч парке парк человек люди идёт идут снег окно окна стул
""".split()  # noqa: SIM905
MORPH = pymorphy3.MorphAnalyzer(lang="ru")
STEMMER = snowballstemmer.stemmer("russian")
Case = tuple[str, list[str]]


def cases(count: int) -> list[Case]:
    draw = random.Random(11)
    return [(sentence(draw), [sentence(draw), sentence(draw)]) for _ in range(count)]


def sentence(draw: random.Random) -> str:
    return " ".join(draw.choices(VOCABULARY, k=draw.randint(2, 12)))


def lemmas(text: str) -> list[str]:
    bare = "".join(character for character in text.lower() if character not in string.punctuation)
    return [MORPH.parse(word)[0].normal_form.replace("ё", "е") for word in bare.split()]


def f1(prediction: str, reference: str) -> float:
    mine, theirs = lemmas(prediction), lemmas(reference)
    common = sum((Counter(mine) & Counter(theirs)).values())
    if not common:
        return 0.0
    precision, recall = common / len(mine), common / len(theirs)
    return 2 * precision * recall / (precision + recall)


def exact(prediction: str, reference: str) -> float:
    return float(lemmas(prediction) == lemmas(reference))


class Stemmer:
    def stem(self, word: str) -> str:
        return STEMMER.stemWord(word).replace("ё", "е")


class NoWordNet:
    def synsets(self, _word: str) -> list[object]:
        return []


def nltk_meteor(prediction: str, reference: str) -> float:
    mine, theirs = (
        [token.text for token in razdel.tokenize(text.lower())] for text in (prediction, reference)
    )
    return single_meteor_score(theirs, mine, stemmer=Stemmer(), wordnet=NoWordNet(), gamma=0)


def ned(prediction: str, reference: str) -> float:
    longest = max(len(prediction), len(reference))
    return 1 - edit_distance(prediction, reference) / longest


def agreeing(prediction: str, references: list[str]) -> float:
    bare = [normal(text) for text in (prediction, *references)]
    return min(sum(one == bare[0] for one in bare[1:]) / 3, 1.0)


def normal(text: str) -> str:
    kept = "".join(one for one in text.lower() if not unicodedata.category(one).startswith("P"))
    return " ".join(word for word in kept.split() if word not in ("a", "an", "the"))


def greatest(score: Callable[[str, str], float]) -> Callable[[str, list[str]], float]:
    return lambda prediction, references: max(score(prediction, reference) for reference in references)


PLAIN: dict[str, tuple[str, Callable[[str, list[str]], float]]] = {
    "text_f1": ("plain, pymorphy3", greatest(f1)),
    "math_em": ("plain, pymorphy3", greatest(exact)),
    "captioning_meteor": ("nltk, gamma 0", greatest(nltk_meteor)),
    "visual_qa_meteor": ("nltk, gamma 0", greatest(nltk_meteor)),
    "one_minus_ned": ("nltk edit_distance", greatest(ned)),
    "vqa_accuracy": ("plain", agreeing),
}


def timed(score: Callable[[str, list[str]], float], given: list[Case]) -> tuple[float, list[float]]:
    """Return microseconds of CPU for a pair, and the scores."""
    score(*given[0])
    start = time.process_time()
    found = [score(*case) for case in given]
    return (time.process_time() - start) / len(given) * 1e6, found


def together(given: list[Case], *, jobs: int) -> str:
    """Say how long all pairs and metrics take as the command computes them, and how much CPU."""
    wall, cpu = time.perf_counter(), sum(os.times()[:4])
    pairs = (Pair("all", text, references, tuple(PLAIN)) for text, references in given)
    for _ in scored(pairs, profile="document", thesaurus=None, jobs=jobs):
        pass
    return f"{time.perf_counter() - wall:6.1f} s, {sum(os.times()[:4]) - cpu:6.1f} s of CPU with {jobs} processes"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--together", type=int, default=60_000, help="pairs in all that get every metric")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    given = cases(options.pairs)
    print(f"{options.pairs:,} pairs with two references, microseconds of CPU for a pair")
    print(f"{'':20}{'ours':>8}{'theirs':>9}{'ratio':>7}   theirs is")
    for name, (label, plain) in PLAIN.items():
        ours, mine = timed(METRICS[name].score, given)
        theirs, other = timed(plain, given)
        worst = max(abs(one - two) for one, two in zip(mine, other, strict=True))
        if name != "visual_qa_meteor" and worst > 1e-9:
            sys.exit(f"{name}: the two differ by {worst}")
        print(f"{name:20}{ours:8.1f}{theirs:9.1f}{theirs / ours:7.1f}   {label}")
    many = given * max(1, options.together // len(given))
    print(f"all of them, {len(many):,} pairs")
    for jobs in sorted({1, options.jobs}):
        print(together(many, jobs=jobs))


if __name__ == "__main__":
    main()
