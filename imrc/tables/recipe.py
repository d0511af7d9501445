"""The decisions made for one file, so that the next one is read in the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from imrc._checks import DataError
from imrc._types import Floats
from imrc.tables.table import DAY, Column, Table, plain_number, unique_names
from imrc.tasks import TaskSequence
from imrc.wording import listed

if TYPE_CHECKING:
    import imrc.tables

_READ = ("kind", "decimal", "dayfirst")


@dataclass(frozen=True)
class Recipe:
    """How a file becomes features, labels and task names; `to_dict` and `from_dict` convert it for JSON.

    `label`, `task` and each of `features` are mappings with the column's ``name``, its ``kind`` ("number", "category",
    "date"), ``decimal`` and ``dayfirst`` as they were read; words have ``categories``, features a ``fill`` (the
    median of the first task), a task a ``period``, a label ``classes``, the ``threshold`` that makes two of numbers,
    and ``names`` of classes that are shown differently (without them, all words are those shown).
    """

    label: Mapping[str, Any]
    task: Mapping[str, Any] | None
    features: Sequence[Mapping[str, Any]]
    reading: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as plain values for JSON."""
        return {"version": 1, **asdict(self)}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Recipe:
        """Return the recipe that `to_dict` wrote; DataError for anything else."""
        if not isinstance(told, Mapping) or told.get("version") != 1 or {"label", "features"} - set(told):
            raise DataError("This version does not know this recipe for reading files.")
        return cls(told["label"], told.get("task"), told["features"], told.get("reading", {}))

    @classmethod
    def of(cls, sequence: TaskSequence) -> Recipe:
        """Return the recipe a sequence was made with; if no table was read, one by names and kinds."""
        if "recipe" in sequence.info:
            return cls.from_dict(sequence.info["recipe"])
        names = unique_names(sequence.feature_names or [""] * sequence.n_features)
        kinds = sequence.column_kinds or ("undeclared",) * len(names)
        told: dict[str, Any] = {"decimal": "", "dayfirst": None, "fill": 0.0}
        features = []
        for column, (name, kind) in enumerate(zip(names, kinds, strict=True)):
            words = list(sequence.categories.get(column, ())) if kind == "category" else []
            read = "category" if words else "date" if kind == "date" else "number"
            features.append({"name": name, "kind": read, "categories": words, **told})
        label = {"name": "", "kind": "", "classes": sequence.classes.tolist(), "names": {}}
        return cls(label | told, None, features)

    def read(self, source: imrc.tables.Source) -> Table:
        """Read the next file like the first one; columns from which nothing is learnt stay as they are written."""
        from imrc.tables import open_table

        known = [column for column in (self.label, self.task) if column is not None]
        columns = {told["name"]: {part: told[part] for part in _READ} for told in (*known, *self.features)}
        for told in self.features:
            columns[told["name"]]["needed"] = True
        return open_table(source, columns=columns, **self.reading)

    def apply(
        self, source: imrc.tables.Source | Table, *, fill: bool = False
    ) -> tuple[Floats, NDArray[Any] | None, NDArray[np.str_], list[str]]:
        """Read the next file: features, labels (None if the column is not there), the task of each row, and notes.

        Features are as in the tasks of the recipe, with NaN where a cell is missing (with `fill`, the median of
        the first task) and the number after the last word for a new one. Labels and tasks are "" where a row has none.
        """
        from imrc.tables.cut import period_in_words, periods_of

        table = source if isinstance(source, Table) else self.read(source)
        there, notes = set(table.names), list(table.notes)
        gone = [repr(column["name"]) for column in self.features if column["name"] not in there]
        if gone:
            raise DataError(
                f"The file has no column {listed(gone, 5)}, which the first file had and the model learnt from. Its "
                f"columns: {listed(table.names, 30)}."
            )
        X = np.stack([self._values(table, told, fill, notes) for told in self.features], axis=1)
        labels = self._labels(table, notes) if self.label["name"] in there else None
        tasks = np.full(table.n_rows, "", dtype=object)
        if self.task is not None and self.task["name"] in there:
            column = table.column(self.task["name"])
            if column.kind == "date" == self.task["kind"]:
                starts = periods_of(column.values[column.present], self.task["period"])
                tasks[column.present] = [period_in_words(start, self.task["period"]) for start in starts]
            else:
                tasks = column.words()
        return X, labels, tasks.astype(str), notes

    def _values(self, table: Table, told: Mapping[str, Any], fill: bool, notes: list[str]) -> Floats:
        column = table.column(told["name"])
        if told["kind"] == "category":
            if not column.present.any():
                return np.full(table.n_rows, np.nan)
            column, place, other = column.as_words(), places(told["categories"]), len(told["categories"])
            words = column.raw if "names" in self.label else column.categories  # of an earlier version
            codes = [place.get(word, place.get(_plain(word), other)) for word in words]
            new = [repr(word) for word, code in zip(column.categories, codes, strict=True) if code == other]
            if new:
                count = f"{len(new):,} new word{'s' * (len(new) > 1)} ({listed(new, 3)})"
                notes.append(f"Column {column.name!r}: {count} count{'s' * (len(new) == 1)} as other.")
            # Words that are not listed are new.
            found = np.array([*codes, other], dtype=np.float64)[np.minimum(column.values, len(codes))]
            return np.where(column.present, found, np.nan)
        values = np.where(column.present, column.values, np.nan).astype(np.float64)
        if column.kind not in (told["kind"], "empty"):
            raise DataError(f"Column {column.name!r}, which the model learnt from, no longer contains {told['kind']}s.")
        values = values / DAY if told["kind"] == "date" else values
        gaps = np.isnan(values)
        if fill and gaps.any():
            values[gaps] = told["fill"]
            notes.append(f"Column {column.name!r}: {gaps.sum():,} missing values were filled with {told['fill']:g}.")
        return values

    def _labels(self, table: Table, notes: list[str]) -> NDArray[Any] | None:
        column, classes = table.column(self.label["name"]), list(self.label["classes"])
        if not column.present.any():
            return None
        if self.label.get("threshold") is not None:
            above = column.values > self.label["threshold"]
            return np.where(column.present, np.where(above, classes[0], classes[1]), "")
        place, words = places([str(one) for one in classes]), column.words(raw="names" in self.label)
        words = np.array([str(classes[place[one]]) if one in place else one for one in words], dtype=object)
        new = sorted(set(words.tolist()) - set(map(str, classes)) - {""})
        if new:
            notes.append(f"The label {column.name!r} has new classes: {listed(list(map(repr, unique_names(new))), 5)}.")
        whole = not new and all(isinstance(c, int) for c in classes) and column.present.all()
        return words.astype(np.int64) if whole else words


def places(words: Sequence[Any]) -> dict[Any, int]:
    """Return the place of each word; true and false may be capitalised, as in Python and some files."""
    found = {word: place for place, word in enumerate(words)}
    for word in [one for one in found if str(one).lower() in ("false", "true")]:
        for way in (str(word).lower(), str(word).title(), str(word).upper()):
            found.setdefault(way, found[word])
    return found


def _plain(word: str) -> str:
    """Return a number in the spelling that words made of a column of numbers have."""
    try:
        return plain_number(float(word))
    except ValueError:
        return word


def recipe_of(
    table: Table,
    label: tuple[Column, dict[str, Any]],
    task: tuple[Column | None, str],
    columns: Sequence[Column],
    first: Floats,
) -> Recipe:
    """Return the recipe of a cut; `label` has what is told of it, `task` the period, `first` is the first task."""
    fills = [0.0 if np.isnan(cells).all() else float(np.nanmedian(cells)) for cells in first.T]
    features = [
        _told(one) | ({"categories": list(one.raw)} if one.kind == "category" else {"fill": fill})
        for one, fill in zip(columns, fills, strict=True)
    ]
    reading = {name: values[0] for name, values in table.choices.items() if name in ("dayfirst", "decimal")}
    reading["header"] = table.choices.get("header", (True,))[0]
    told = None if task[0] is None else _told(task[0]) | {"period": task[1]}
    return Recipe(_told(label[0]) | label[1], told, features, reading)


def _told(column: Column) -> dict[str, Any]:
    return {"name": column.name, **{part: getattr(column, part) for part in _READ}}
