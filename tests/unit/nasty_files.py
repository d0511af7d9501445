# ruff: noqa: E501 - one case per line reads best
"""Files no one should be punished for: each ends in tasks or in a message a non-programmer understands."""

import gzip
import io
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Case:
    """One file, how it is cut, and what must come of it."""

    name: str
    make: Callable[[], bytes]
    options: dict[str, Any] = field(default_factory=lambda: {"label": "y", "block": 4})
    file: str = "data.csv"
    says: tuple[str, ...] = ()  # words of the message
    tasks: int = 0  # what the sequence holds, with features and classes
    features: int = 0
    classes: int = 0
    told: tuple[str, ...] = ()  # words for the person, of a file that works


class Bomb:
    """Runs code when unpickled: the test sees whether anything ever does."""

    ran = False

    def __reduce__(self):
        return (setattr, (Bomb, "ran", True))


def table(rows: int = 12, separator: str = ",", header: str = "x,z,y", y: Callable[[int], str] | None = None) -> str:
    y = y or (lambda i: "ab"[i % 2])
    lines = [header] if header else []
    lines += [f"{i * 7 % 5},{i * 3 % 4}.5,{y(i)}" for i in range(rows)]
    return "\n".join(lines).replace(",", separator) + "\n"


def text(content: str, encoding: str = "utf-8") -> Callable[[], bytes]:
    return lambda: content.encode(encoding)


def zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def npz_with_objects() -> bytes:
    return npz(x=np.array([Bomb()], dtype=object))


def parquet(frame: pd.DataFrame) -> bytes:
    out = io.BytesIO()
    frame.to_parquet(out)
    return out.getvalue()


def parquet_broken_letters() -> bytes:
    """Words that are no UTF-8; reading them finds that only when somebody looks at them."""
    out = io.BytesIO()
    pd.DataFrame({"x": range(40), "c": ["hello", "other"] * 20, "y": [0, 1] * 20}).to_parquet(out, compression=None)
    return out.getvalue().replace(b"hello", b"\x80ello")


def million_rows() -> bytes:
    row = b"".join(b"%d,%d,%s\n" % (i % 97, i % 89, (b"a", b"b")[i % 3 == 0]) for i in range(10_000))
    return b"x,z,y\n" + row * 100


FRAME = pd.DataFrame(
    {
        "x": [1.5, 2.5, np.nan, 4.0] * 3,
        "when": pd.date_range("2020-01-01", periods=12, freq="D"),
        "c": pd.Categorical(["u", "v", "w", "u"] * 3),
        "flag": [True, False, True, None] * 3,
        "nested": [[1, 2]] * 12,
        "y": ["a", "b"] * 6,
    }
)

HTML = "<script>alert(1)</script>"
GOOD = {"tasks": 3, "features": 2, "classes": 2}
ARFF = "@relation t\n@attribute x numeric\n@attribute 'my name' {a,'b c'}\n@attribute y {no,yes}\n@data\n"
ARFF_ROWS = "1,a,no\n2,'b c',yes\n3,a,yes\n4,'b c',no\n" * 3

CASES = [
    # nothing, or hardly anything
    Case("empty", text(""), says=("empty",)),
    Case("blanks only", text("  \n\n \t\n"), says=("empty",)),
    Case("byte order mark only", lambda: b"\xef\xbb\xbf", says=("empty",)),
    Case("header only", text("x,y\n"), says=("no rows",)),
    Case("header without line end", text("x,y"), says=("no rows",)),
    Case("one cell", text("hello"), says=("Only one column",)),
    Case("one column", text("y\n1\n2\n3\n"), says=("Only one column",)),
    Case("one row", text("x,y\n1,a\n"), says=("same value in every row",)),
    Case("two rows", text("x,y\n1,a\n2,b\n"), says=("longer than the 2 rows",)),
    # labels
    Case("one class", text(table(y=lambda i: "a")), says=("'y'", "same value in every row")),
    Case("label missing everywhere", text(table(y=lambda i: "")), says=("'y'", "is empty")),
    Case("some labels missing", text(table(14, y=lambda i: ["a", "b", ""][(i > 11) * 2 or i % 2])), **GOOD, told=("2 rows left out: no label in column 'y'",)),
    Case("500 classes", text(table(1000, y=lambda i: f"name{i % 500}")), says=("500 different values", "at most 50")),
    Case("label is measured", text(table(200, y=lambda i: f"{i * 1.25}")), says=("measured number",)),
    Case("no such label", text(table()), {"label": "target", "block": 4}, says=("no column 'target'", "'x', 'z' and 'y'")),
    Case("label by position", text(table()), {"label": -1, "block": 4}, **GOOD),
    Case("position out of range", text(table()), {"label": 17, "block": 4}, says=("no column number 17",)),
    # tasks
    Case("neither task nor block", text(table()), {"label": "y"}, says=("how rows form tasks",)),
    Case("both task and block", text(table()), {"label": "y", "task": "x", "block": 4}, says=("not both",)),
    Case("one task", text("t,x,y\n" + "7,1,a\n7,2,b\n" * 6), {"label": "y", "task": "t"}, says=("'t'", "only one task")),
    Case("label as task", text(table()), {"label": "y", "task": "y"}, says=("both the label and the task",)),
    Case("every row a task", text("t,x,y\n" + "".join(f"{i},{i % 3},{'ab'[i % 2]}\n" for i in range(40))), {"label": "y", "task": "t"}, says=("fewer than two of 40 tasks", "'0' (1)")),
    Case("one task too small", text("t,x,y\n" + "".join(f"{min(i // 8, 2)},{i % 3},{'ab'[i % 2]}\n" for i in range(17))), {"label": "y", "task": "t"}, tasks=2, features=1, classes=2, told=("too small", "'2' (1 row)")),
    Case("3,000 tasks", text("t,x,y\n" + "".join(f"n{i // 4},{i % 3},{'ab'[i % 2]}\n" for i in range(12_000))), {"label": "y", "task": "t"}, says=("3,000 different values", "2,000 tasks")),
    Case("block too long", text(table()), {"label": "y", "block": 100}, says=("longer than the 12 rows",)),
    Case("blocks leave rows over", text(table(14)), **GOOD, told=("2 rows left out: rows left over",)),
    Case("tasks not sorted", text("t,x,y\n" + "".join(f"{i * 5 % 3},{i % 4},{'ab'[i % 2]}\n" for i in range(24))), {"label": "y", "task": "t"}, tasks=3, features=1, classes=2, told=("increasing order",)),
    Case("dates as tasks", text("when,x,y\n" + "".join(f"2020-{1 + i // 28:02d}-{1 + i % 28:02d},{i % 5},{'ab'[i % 2]}\n" for i in range(168))), {"label": "y", "task": "when"}, tasks=6, features=1, classes=2, told=("one per month",)),
    Case("task column of words", text("t,x,y\n" + "".join(f"{['zinc', 'iron', 'tin'][i // 4]},{i % 3},{'ab'[i % 2]}\n" for i in range(12))), {"label": "y", "task": "t"}, tasks=3, features=1, classes=2, told=("first appear",)),
    Case("tasks with one class", text("t,x,y\n" + "".join(f"{i // 4},{i % 3},{'ab'[i > 5]}\n" for i in range(12))), {"label": "y", "task": "t"}, tasks=3, features=1, classes=2, told=("only one class",)),
    # headers and names
    Case("duplicate columns", text("x,x,y\n" + "1,2,a\n3,1,b\n" * 6), **GOOD, told=("several columns called 'x'",)),
    Case("empty names", text(",,y\n" + "1,2,a\n3,1,b\n" * 6), **GOOD),
    Case("no header", text("1,2,0\n3,4,1\n" * 6), {"label": 2, "block": 4}, **GOOD, told=("first row holds numbers only",)),
    Case("HTML in names and cells", text(f"{HTML},z,y\n" + f"1,2,{HTML}\n3,1,<b>x</b>\n" * 6), **GOOD),
    Case("formulas", text("=cmd|' /C calc'!A0,z,y\n" + "1,2,=1+1\n3,1,@SUM(A1)\n" * 6), **GOOD),
    Case("name of 10,000 characters", text("x" * 10_000 + ",y\n" + "1,a\n2,b\n" * 6), tasks=3, features=1, classes=2),
    Case("markdown in names", text("![x](http://example.invalid/a.png),y\n" + "1,a\n2,b\n" * 6), tasks=3, features=1, classes=2),
    Case("control characters and emoji", text("x\x07\u202e,😀,y\n" + "1,4,a\n2,3,b\n" * 6), **GOOD),
    # quotes and separators
    Case("quotes and newlines in cells", text('x,"z\nnew",y\n' + '1,"a, ""quoted""\nword",no\n2,b,yes\n' * 6), **GOOD),
    Case("quotation mark never closed", text('x,z,y\n1,"2,a\n' + "1,2,b\n" * 11), says=("row 1", "cell")),
    Case("rows of different length", text("x,y\n1,a\n2,b,c\n3\n"), says=("row 2 has 3 cells", "row 3 has 1 cell")),
    Case("stray separator in one row", text("x,z,y\n1,2,a\n3,1,b,\n" * 1 + "1,2,a\n3,1,b\n" * 5), **GOOD, told=("separator too many",)),
    # encodings
    Case("UTF-16 cut in the middle", lambda: table().encode("utf-16")[:-1], says=("does not fit", "UTF-8")),
    Case("zero bytes", lambda: table().encode() + b"\0" * 20, says=("not a kind of table",)),
    # values
    Case("mixed types", text("x,z,y\n" + "".join(f"{i if i != 7 else 'seven'},{i % 3},{'ab'[i % 2]}\n" for i in range(12))), **GOOD, told=("'seven' in row 8", "count as missing")),
    Case("infinities", text("x,z,y\n" + "inf,2,a\n1,1,b\n-Infinity,3,a\n1e999,4,b\n2,2,a\n3,9,b\n" * 2), **GOOD, told=("infinite",)),
    Case("column nearly all missing", text("x,z,y\n" + "1,,a\n2,,b\n" * 5 + "1,5,a\n2,6,b\n"), **GOOD, told=("'z' (10 cells)", "median")),
    Case("constant column", text("x,z,y\n" + "1,5,a\n2,5,b\n" * 6), tasks=3, features=1, classes=2, told=("'z' (the same value in every row)",)),
    Case("nothing to learn from", text("z,y\n" + "5,a\n5,b\n" * 6), says=("No column is left", "'z'")),
    Case("identifiers", text("id,x,y\n" + "".join(f"u{i:04d},{i % 3},{'ab'[i % 2]}\n" for i in range(60))), {"label": "y", "block": 20}, tasks=3, features=1, classes=2, told=("identifier or free text",)),
    Case("category with many values", text("c,x,y\n" + "".join(f"v{i * i % 37},{i % 3},{'ab'[i % 2]}\n" for i in range(120))), {"label": "y", "block": 40, "max_categories": 5}, **GOOD, told=("becomes up to 5 columns of 0 and 1",)),
    Case("huge numbers", text("x,z,y\n" + "1e308,-1e308,a\n-1e308,1e308,b\n" * 6), **GOOD),
    Case("dates as features", text("d,x,y\n" + "".join(f"2020-01-{i + 1:02d},{i % 3},{'ab'[i % 2]}\n" for i in range(12))), **GOOD, told=("'d'",)),
    # size
    Case("2,000 columns", lambda: (",".join(f"c{j}" for j in range(1999)) + ",y\n" + "".join(",".join(str((i * j + i) % 2003) for j in range(1, 2000)) + f",{'ab'[i % 2]}\n" for i in range(12))).encode(), tasks=3, features=1999, classes=2),
    Case("6,000 columns", lambda: (",".join(f"c{j}" for j in range(6000)) + "\n").encode() * 3, says=("more than 5,000",)),
    Case("a million rows", million_rows, {"label": "y", "block": 1000}, tasks=1000, features=2, classes=2),
    Case("too many rows", lambda: b"x,y\n" + b"1,a\n2,b\n" * 1_050_000, says=("2,100,000 rows", "2,000,000 rows")),
    Case("file too large", lambda: b"x,y\n" + b"1,a\n" * (17 << 20), says=("68 MB", "64 MB")),
    Case("one cell of 20 MB", lambda: b"x,y\n" + b"z" * (20 << 20) + b",a\n2,b\n" + b"1,a\n3,b\n" * 5, {"label": "y", "block": 4}, tasks=3, features=1, classes=2, told=("'x'",)),
    # archives and other kinds of file
    Case("gzip", lambda: gzip.compress(table().encode()), file="data.csv.gz", **GOOD, told=("gzip",)),
    Case("zip", lambda: zipped({"folder/data.csv": table().encode()}), file="data.zip", **GOOD, told=("out of the zip file",)),
    Case("zip with two tables", lambda: zipped({"a.csv": b"1", "b.csv": b"2"}), says=("one table", "a.csv, b.csv")),
    Case("zip with paths upwards", lambda: zipped({"../../etc/passwd.csv": table().encode()}), **GOOD),
    Case("pickle renamed to csv", lambda: pickle.dumps(Bomb(), protocol=0), says=()),
    Case("other kinds of file", lambda: b"\x93NUMPY\x01\0" + bytes(60), file="data.npz", says=("not a kind of table", "as CSV")),
    *(Case(f"refused: {name}", lambda content=content: content, says=("not a kind of table", "as CSV")) for name, content in {
        "xz": b"\xfd7zXZ\0" + bytes(90), "SPSS": b"$FL2@(#) SPSS DATA FILE" + bytes(200), "Stata": b"<stata_dta><header><release>118", "R": b"RDX3\nX\n\0\0\0\3" + bytes(50),
        "PDF": b"%PDF-1.7 ...", "image": b"\x89PNG\r\n\x1a\n" + bytes(50), "pickle": pickle.dumps(Bomb()), "npz": npz_with_objects(), "random bytes": np.random.default_rng(0).bytes(5000),
        "web page": b"<!DOCTYPE html><html><table><tr><td>1</td></tr></table></html>", "JSON": b'{"x": [1, 2], "y": ["a", "b"]}', "sparse ARFF": ARFF.encode() + b"{0 1}\n{1 2, 2 b}\n",
        "OpenDocument": zipped({"mimetype": b"x", "content.xml": b"<x/>"}), "binary workbook": zipped({"xl/workbook.bin": b"x"}),
    }.items()),
    # ARFF
    Case("ARFF", text(ARFF + ARFF_ROWS), file="data.arff", **GOOD),
    Case("ARFF called CSV", text(ARFF + ARFF_ROWS), file="data.csv", **GOOD, told=("ARFF",)),
    Case("ARFF with missing values and comments", text("% a comment\n" + ARFF + ARFF_ROWS.replace("3,a", "?,a", 1) + "% end\n"), **GOOD, told=("median",)),
    Case("ARFF without data", text(ARFF), says=("no data rows",)),
    Case("ARFF cut in the header", text(ARFF[:60]), says=("no @DATA line",)),
    Case("ARFF row too long", text(ARFF + "1,a,no\n2,a,yes,7,8\n"), says=("row 2 has 5 cells",)),
    Case("ARFF relational attribute", text("@relation t\n@attribute x relational\n@data\n1\n"), says=("relational",)),
    # Parquet
    Case("Parquet", lambda: parquet(FRAME), file="data.parquet", tasks=3, features=4, classes=2, told=("lists or other nested",)),
    Case("Parquet with broken letters", parquet_broken_letters, file="data.parquet", says=("Parquet file is damaged", "UTF8")),
    Case("Parquet with a broken middle", lambda: parquet(FRAME)[:60] + b"\xff" * 200 + parquet(FRAME)[260:], file="data.parquet", says=("Parquet file is damaged",)),
    Case("Parquet without rows", lambda: parquet(FRAME.head(0)), file="data.parquet", says=("no rows",)),
]  # fmt: skip
