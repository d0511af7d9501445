"""A simulation for teaching: two-dimensional tasks whose means drift, with the truth known.

`teach` learns one simulated sequence step by step and keeps what a picture needs: boundaries, tracked components with
their bands, uncertainty sets, exact errors. `average_lesson` repeats the learning and averages the exact errors.
`coverage_study` repeats the tracking and counts how often the truth lies inside the bands.
"""

from imrc.teaching._lessons import (
    COMPONENTS,
    NOMINAL,
    Lesson,
    average_lesson,
    coverage_study,
    lesson_sentence,
    teach,
)
from imrc.teaching._simulated import bayes_error, component_means, component_variance, linear_error

__all__ = [
    "COMPONENTS",
    "NOMINAL",
    "Lesson",
    "average_lesson",
    "bayes_error",
    "component_means",
    "component_variance",
    "coverage_study",
    "lesson_sentence",
    "linear_error",
    "teach",
]
