"""The file writer against the official ONNX library."""

from __future__ import annotations

import numpy as np
import pytest

from simonides.models.onnx_file import Graph

onnx = pytest.importorskip("onnx", reason="the official library is the reference here")


def test_the_official_library_reads_what_was_written() -> None:
    graph = Graph()
    table = graph.constant(np.arange(6, dtype=np.float32).reshape(3, 2))
    gathered = graph.add("Gather", table, "ids", axis=0)
    normed = graph.add(
        "LayerNormalization", gathered, graph.constant(np.ones(2, dtype=np.float32)), axis=-1, epsilon=1e-12
    )
    turned = graph.add("Transpose", normed, perm=(1, 0))

    model = onnx.load_from_string(graph.model({"ids": ("n",)}, {"out": (turned, (2, "n"))}))

    onnx.checker.check_model(model, full_check=True)
    assert [node.op_type for node in model.graph.node] == [
        "Gather",
        "LayerNormalization",
        "Transpose",
        "Identity",
    ]
    attributes = {
        a.name: onnx.helper.get_attribute_value(a) for node in model.graph.node for a in node.attribute
    }
    assert attributes["epsilon"] == pytest.approx(1e-12)
    assert attributes["axis"] == -1
    assert attributes["perm"] == [1, 0]
    assert [i.name for i in model.graph.input] == ["ids"]
    (output,) = model.graph.output
    assert [d.dim_value or d.dim_param for d in output.type.tensor_type.shape.dim] == [2, "n"]


@pytest.mark.parametrize("kind", ["float32", "uint8", "int8", "int64"])
@pytest.mark.parametrize("shape", [(), (1,), (200, 3), (0, 2)])
def test_constants_keep_type_shape_and_values(kind: str, shape: tuple[int, ...]) -> None:
    array = (np.arange(int(np.prod(shape))) % 120).reshape(shape).astype(kind)
    graph = Graph()
    name = graph.constant(array)

    (tensor,) = onnx.load_from_string(graph.model({}, {})).graph.initializer

    assert tensor.name == name
    read = onnx.numpy_helper.to_array(tensor)
    assert read.dtype == array.dtype
    np.testing.assert_array_equal(read, array)


def test_a_view_in_another_order_is_written_as_it_reads() -> None:
    array = np.arange(6, dtype=np.int8).reshape(2, 3).T
    graph = Graph()
    graph.constant(array)

    (tensor,) = onnx.load_from_string(graph.model({}, {})).graph.initializer

    np.testing.assert_array_equal(onnx.numpy_helper.to_array(tensor), array)
