"""Thesauri from files: RuWordNet's SQLite and XML, MyThes, WordNet, a dict."""

import sqlite3
from pathlib import Path

import pytest

from metrics import METRICS, MetricError
from metrics.thesaurus import Thesaurus, from_mapping, open_thesaurus

SENSES = [("1", "МАШИНА"), ("1", "АВТОМОБИЛЬ"), ("2", "РЕБЕНОК"), ("2", "МАЛЫШ"), ("3", "МАШИНА")]
LICENCE = "  1 A line before the data, as WordNet has it.  \n"
PARTS = ("noun", "verb", "adj", "adv")


def sqlite_file(folder: Path) -> Path:
    path = folder / "ruwordnet.db"
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE sense (id TEXT, name TEXT, lemma TEXT, synset_id TEXT)")
        base.executemany("INSERT INTO sense (synset_id, name) VALUES (?, ?)", SENSES)
    base.close()
    return path


def xml_folder(folder: Path) -> Path:
    rows = (f'<sense id="{n}" synset_id="{s}" lemma="{w}" name="-"/>' for n, (s, w) in enumerate(SENSES))
    (folder / "senses.N.xml").write_text(f"<senses>{''.join(rows)}</senses>", encoding="utf-8")
    (folder / "synsets.N.xml").write_text("<synsets/>")
    return folder


def mythes_file(folder: Path) -> Path:
    path = folder / "th_ru.dat"
    path.write_text(
        "UTF-8\nмашина|2\n(сущ.)|автомобиль\n-|механизм (общий)\nребёнок|1\n-|малыш\n", encoding="utf-8"
    )
    return path


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (sqlite_file, "RuWordNet (ruwordnet.db)"),
        (xml_folder, "RuWordNet (files)"),
        (mythes_file, "MyThes (th_ru.dat)"),
    ],
)
def test_russian_files(tmp_path: Path, make: object, name: str) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    thesaurus = open_thesaurus(make(folder))
    assert thesaurus.name == name
    assert are_synonyms(thesaurus, "машина", "автомобиль")
    assert are_synonyms(thesaurus, "ребёнок", "малыш")
    assert not are_synonyms(thesaurus, "машина", "малыш")
    assert set(thesaurus.senses("дом")) == set()


def are_synonyms(thesaurus: Thesaurus, left: str, right: str) -> bool:
    return bool(set(thesaurus.senses(left)) & set(thesaurus.senses(right)))


def test_a_mythes_remark_is_no_part_of_the_word(tmp_path: Path) -> None:
    assert are_synonyms(open_thesaurus(mythes_file(tmp_path)), "машина", "механизм")


def test_synonyms_of_different_meanings_are_none(tmp_path: Path) -> None:
    assert not are_synonyms(open_thesaurus(mythes_file(tmp_path)), "автомобиль", "механизм")


def wordnet_folder(folder: Path) -> Path:
    """Write the smallest WordNet that nltk reads: car and automobile in one synset."""
    synset = f"{len(LICENCE):08d} 06 n 02 car 0 automobile 0 000 | a motor vehicle  \n"
    for part in PARTS:
        (folder / f"data.{part}").write_text(LICENCE + (synset if part == "noun" else ""))
        (folder / f"index.{part}").write_text(LICENCE)
        (folder / f"{part}.exc").write_text("")
    index = "".join(f"{word} n 1 0 1 0 {len(LICENCE):08d}  \n" for word in ("automobile", "car"))
    (folder / "index.noun").write_text(LICENCE + index)
    (folder / "lexnames").write_text("".join(f"{n:02d}\tnoun.kind{n}\t1\n" for n in range(7)))
    for name in ("index.sense", "cntlist.rev"):
        (folder / name).write_text("")
    return folder


def test_english_wordnet_through_nltk(tmp_path: Path) -> None:
    folder = tmp_path / "wordnet"
    folder.mkdir()
    score = METRICS["captioning_meteor"].evaluate(
        "two cars", ["two automobiles"], thesaurus=open_thesaurus(wordnet_folder(folder))
    )
    assert (score.value, score.thesaurus) == (1.0, "WordNet (wordnet)")


def test_a_broken_wordnet_is_named(tmp_path: Path) -> None:
    folder = wordnet_folder(tmp_path)
    (folder / "lexnames").unlink()
    with pytest.raises(MetricError, match="cannot be read as WordNet"):
        open_thesaurus(folder)


def test_a_dict_takes_ё_as_е() -> None:
    thesaurus = from_mapping({"ребёнок": ["малыш"]})
    assert are_synonyms(thesaurus, "ребенок", "МАЛЫШ")
    assert (thesaurus.name, len(thesaurus)) == ("dict of 1", 2)


def test_what_is_no_thesaurus_is_named(tmp_path: Path) -> None:
    text, base, empty = tmp_path / "a.txt", tmp_path / "a.db", tmp_path / "folder"
    text.write_text("")
    base.write_text("this is no database at all")
    empty.mkdir()
    with pytest.raises(MetricError, match=r"there is no thesaurus at .*none\.db"):
        open_thesaurus(tmp_path / "none.db")
    with pytest.raises(MetricError, match=r"a\.txt: a thesaurus is a \.db"):
        open_thesaurus(text)
    with pytest.raises(MetricError, match=r"a\.db cannot be read as RuWordNet: file is not a database"):
        open_thesaurus(base)
    with pytest.raises(MetricError, match=r"folder holds neither senses\*\.xml nor data\.noun"):
        open_thesaurus(empty)


def test_a_broken_mythes_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "th.dat"
    path.write_text("UTF-8\nмашина|много\n", encoding="utf-8")
    with pytest.raises(MetricError, match=r"th\.dat cannot be read as MyThes"):
        open_thesaurus(path)
