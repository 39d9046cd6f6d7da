"""A protocol with questions that not everybody is asked, of every kind, and items for it."""

from tests.surveys.studies.importing_cases import long_csv

DOCUMENT = """\
protocol: edits
name: Edits
version: 1
title: Judge rewritten sentences
question_label: Sentence
output_label: Rewriting {n}
outputs_per_item: 2
pictures: none
headline: fluent
answer:
  label: Which comes first?
  choices: [{value: a, label: First}, {value: b, label: Second}]
criteria:
  - key: fluent
    label: Is it fluent?
    choices:
      - {value: yes, label: Yes, score: 1}
      - {value: weak_no, label: Weak no, score: 1/3}
      - {value: no, label: No, score: 0}
  - key: severity
    label: How much does that matter?
    choices:
      - {value: 1, label: A little, score: 1}
      - {value: 2, label: A lot, score: 2}
    asked_if: {question: fluent, is: [no, weak_no]}
  - key: faults
    label: Which faults?
    is_checklist: true
    is_optional: true
    choices:
      - {value: grammar, label: Grammar}
      - {value: other, label: Another one}
    asked_if:
      question: fluent
      is:
        - no
  - key: which
    label: Which one?
    is_text: true
    asked_if: {question: faults, ticked: [other]}
  - key: hard
    label: Was it hard?
    per_output: false
    choices: [{value: yes, label: Yes, score: 1}, {value: no, label: No, score: 0}]
    asked_if: {question: answer, is: [b]}
  - key: why_hard
    label: How long did it take?
    number: {min: 0, unit: s}
    per_output: false
    is_optional: true
    asked_if: {question: hard, is: [yes]}
instructions:
  summary: You will read sentences.
  steps: [Judge them.]
"""
ITEMS = long_csv(
    [
        {"item_id": "one", "question": "It is.", "text": text, "system": system, "answer": "a"}
        for text, system in (("It is so.", "m"), ("Is it.", "n"))
    ]
)
