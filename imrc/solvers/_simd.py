"""Vectors of eight float64 inside compiled code.

The kernels of this package spend their time in short loops (tens to hundreds of elements) with several results per
element. Left to automatic vectorisation such loops come out scalar or with long tails, so they are written with
explicit vectors. LLVM maps them to one AVX-512 register, two AVX registers, or four NEON registers: one source for
every machine. Arrays are one-dimensional, addressed by element offset, without bounds checks; callers pad every
row to a multiple of eight.
"""

from __future__ import annotations

import contextlib
import hashlib
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from llvmlite import ir
from numba import extending, njit, types
from numba.core import cgutils as _cgutils
from numba.core.typing import templates
from numba.extending import models, register_model

cgutils: Any = _cgutils
_ConcreteTemplate: Any = templates.ConcreteTemplate
infer_global: Any = templates.infer_global
signature: Any = templates.signature
lower_builtin: Any = extending.lower_builtin
intrinsic: Any = extending.intrinsic  # its stubs take the first parameter for one of the caller
LANES = 8
_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, LANES)


class _Vec8Type(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Vec8")


vec8 = _Vec8Type()
_PrimitiveModel: Any = models.PrimitiveModel


@register_model(_Vec8Type)
class _Vec8Model(_PrimitiveModel):  # type: ignore[misc]  # numba ships no annotations
    def __init__(self, manager, fe_type) -> None:  # type: ignore[no-untyped-def]
        super().__init__(manager, fe_type, _VECTOR)


def _address(context, builder, signature, args):  # type: ignore[no-untyped-def]
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.gep(array.data, [args[1]])


address: Any = _address


@intrinsic
def load(typingctx, array, offset):  # type: ignore[no-untyped-def]
    """Eight consecutive elements from `offset`."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        pointer = builder.bitcast(address(context, builder, signature, args), _VECTOR.as_pointer())
        return builder.load(pointer, align=8)

    return vec8(array, types.int64), codegen


@intrinsic
def store(typingctx, array, offset, value):  # type: ignore[no-untyped-def]
    """Write eight consecutive elements at `offset`."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        pointer = builder.bitcast(address(context, builder, signature, args), _VECTOR.as_pointer())
        builder.store(args[2], pointer, align=8)
        return context.get_dummy_value()

    return types.void(array, types.int64, vec8), codegen


@intrinsic
def get(typingctx, array, offset):  # type: ignore[no-untyped-def]
    """One element, without the handling of negative indices."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.load(address(context, builder, signature, args))

    return array.dtype(array, types.int64), codegen


@intrinsic
def put(typingctx, array, offset, value):  # type: ignore[no-untyped-def]
    """Write one element, without the handling of negative indices."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        builder.store(args[2], address(context, builder, signature, args))
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), codegen


@intrinsic
def splat(typingctx, value):  # type: ignore[no-untyped-def]
    """Eight copies of one number."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), args[0], ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(first, ir.Constant(_VECTOR, ir.Undefined), zeros)

    return vec8(types.float64), codegen


@intrinsic
def fma(typingctx, a, b, c):  # type: ignore[no-untyped-def]
    """Return a * b + c, in one rounding where the machine can."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        name = f"llvm.fmuladd.v{LANES}f64"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)

    return vec8(vec8, vec8, vec8), codegen


@intrinsic
def maximum(typingctx, a, b):  # type: ignore[no-untyped-def]
    """Larger of two, lane by lane."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        larger = builder.fcmp_ordered(">", args[0], args[1])
        return builder.select(larger, args[0], args[1])

    return vec8(vec8, vec8), codegen


@intrinsic
def minimum(typingctx, a, b):  # type: ignore[no-untyped-def]
    """Smaller of two, lane by lane (the one `maximum` leaves)."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        larger = builder.fcmp_ordered(">", args[0], args[1])
        return builder.select(larger, args[1], args[0])

    return vec8(vec8, vec8), codegen


@intrinsic
def where_greater(typingctx, a, b, x, y):  # type: ignore[no-untyped-def]
    """Lane by lane x where a > b, else y."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[2], args[3])

    return vec8(vec8, vec8, vec8, vec8), codegen


@intrinsic
def with_sign(typingctx, size, y):  # type: ignore[no-untyped-def]
    """Size * sign(y) with sign(0) = 0, lane by lane."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 2)
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.copysign.v{LANES}f64")
        zero = ir.Constant(_VECTOR, [0.0] * LANES)
        return builder.select(builder.fcmp_unordered("!=", args[1], zero), builder.call(function, args), zero)

    return vec8(vec8, vec8), codegen


def _comparison(symbol: str):  # type: ignore[no-untyped-def]
    @intrinsic
    def operation(typingctx, a, b):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            bits = builder.fcmp_unordered(symbol, *args) if symbol == "!=" else builder.fcmp_ordered(symbol, *args)
            return builder.zext(builder.bitcast(bits, ir.IntType(LANES)), ir.IntType(64))

        return types.int64(vec8, vec8), codegen

    return operation


equal_bits, unequal_bits, greater_bits = _comparison("=="), _comparison("!="), _comparison(">")


@intrinsic
def first_bit(typingctx, bits):  # type: ignore[no-untyped-def]
    """Position of the lowest bit set; 64 if there is none."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.cttz(args[0], cgutils.false_bit)

    return types.int64(types.int64), codegen


def _reduction(name: str):  # type: ignore[no-untyped-def]
    @intrinsic
    def operation(typingctx, a):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            # Halve three times: the same order of operations on every machine.
            value = args[0]
            width = LANES
            while width > 1:
                width //= 2
                low = ir.Constant(ir.VectorType(ir.IntType(32), width), list(range(width)))
                high = ir.Constant(ir.VectorType(ir.IntType(32), width), list(range(width, 2 * width)))
                undefined = ir.Constant(value.type, ir.Undefined)
                a, b = builder.shuffle_vector(value, undefined, low), builder.shuffle_vector(value, undefined, high)
                larger = builder.select(builder.fcmp_ordered(">", a, b), a, b)
                value = builder.fadd(a, b) if name == "sum" else larger
            return builder.extract_element(value, ir.IntType(32)(0))

        return types.float64(vec8), codegen

    return operation


lane_sum, lane_max = _reduction("sum"), _reduction("max")


def _operator(symbol: Callable[..., object], method: str) -> None:
    # Registered the direct way: `overload` would compile a small function at every use.
    @infer_global(symbol)
    class _Signature(_ConcreteTemplate):  # type: ignore[misc]  # numba ships no annotations
        cases: ClassVar[list[Any]] = [signature(vec8, vec8, vec8)]

    @lower_builtin(symbol, vec8, vec8)
    def _lower(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return getattr(builder, method)(*args)


for _symbol, _method in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _operator(_symbol, _method)


def _fingerprint() -> str:
    """Hash of every file that holds kernels."""
    digest = hashlib.sha256()
    for name in ("_simd", "_scores", "_worst", "_subgradient", "_reduced", "_interior"):
        with contextlib.suppress(OSError):  # installations without source files do not change under the cache
            digest.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    return digest.hexdigest()


_FINGERPRINT = _fingerprint()

kernel: Any = njit(nogil=True)
"""Decorator of functions that are called by other compiled ones: compiled into their callers."""


def entry(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that is called from Python, and keep the result on disk.

    Numba keeps it until the function's own file changes; here it must not outlive a change of any file its callees are
    in, so their hash joins the file's time stamp.
    """
    compiled: Any = njit(nogil=True, cache=True)(function)
    store_of: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(store_of, "_source_stamp"):
        store_of._source_stamp = (store_of._source_stamp, _FINGERPRINT)
    return compiled  # type: ignore[no-any-return]  # numba ships no annotations


@entry
def aligned(size):  # type: ignore[no-untyped-def]
    """Zeros that start at a cache line, so no vector load crosses one."""
    raw = np.zeros(size + LANES)
    offset = (-(np.int64(raw.ctypes.data) // 8)) % LANES
    return raw[offset : offset + size]
