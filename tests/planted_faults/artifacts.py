"""Artifacts made elsewhere: healthy ones, and the same with one fault each."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers.float16 import convert_float_to_float16
from torch import nn

from tests.planted_faults import zoo

EXAMPLE = torch.linspace(-1.0, 1.0, 2 * zoo.FEATURES).reshape(2, zoo.FEATURES)


def make_samples(n: int, seed: int) -> NDArray[np.float32]:
    """Standard normal samples shifted by up to one: the means of some batches lie above 0.3, of others below."""
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((n, zoo.FEATURES)) + rng.uniform(-1, 1, (n, 1))).astype(np.float32)


def trained(module: nn.Module, steps: int = 200) -> nn.Module:
    """The classifier after some steps towards the quadrant of its first two features: its decisions have margins."""
    x = torch.from_numpy(make_samples(512, seed=5))
    wanted = (x[:, 0] > 0).long() * 2 + (x[:, 1] > 0).long()
    optimiser = torch.optim.Adam(module.parameters(), lr=0.03)
    module.eval()  # the statistics stay as they are
    for _ in range(steps):
        optimiser.zero_grad()
        nn.functional.cross_entropy(module(x), wanted).backward()
        optimiser.step()
    return module


def save_traced(module: nn.Module, path: Path) -> Path:
    """TorchScript by tracing."""
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.trace(module, EXAMPLE, check_trace=False), path)
    return path


def save_scripted(module: nn.Module, path: Path) -> Path:
    """TorchScript by compiling, with the attributes that it counts in."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(module), path)
    return path


def save_onnx(
    module: nn.Module,
    path: Path,
    *,
    training: bool = False,
    outputs: tuple[str, ...] = ("logits",),
    batch: str | None = "N",
) -> Path:
    """ONNX through TorchScript, with a dynamic batch size or the example's."""
    mode = torch.onnx.TrainingMode.TRAINING if training else torch.onnx.TrainingMode.EVAL
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module, (EXAMPLE,), str(path), dynamo=False, input_names=["x"], output_names=list(outputs),
            dynamic_axes={name: {0: batch} for name in ("x", *outputs)} if batch else None, opset_version=17,
            training=mode,
            do_constant_folding=not training,
        )  # fmt: skip
    return path


def scale_weight(source: Path, target: Path, factor: float) -> Path:
    """An ONNX file with the first matrix scaled."""
    model = onnx.load(source)
    matrix = next(tensor for tensor in model.graph.initializer if len(tensor.dims) == 2)
    matrix.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(matrix) * np.float32(factor), matrix.name))
    onnx.save(model, target)
    return target


def quantize(source: Path, target: Path) -> Path:
    """Int8 by ONNX Runtime's dynamic quantization."""
    quantize_dynamic(source, target, per_channel=True, weight_type=QuantType.QInt8)
    return target


def wreck_scale(source: Path, target: Path) -> Path:
    """A quantized file in which half of the first matrix's channels have a scale that is 30 times too large."""
    model = onnx.load(source)
    scale = next(tensor for tensor in model.graph.initializer if tensor.name.endswith("_scale") and len(tensor.dims))
    values = numpy_helper.to_array(scale).copy()
    values[::2] *= np.float32(30)
    scale.CopyFrom(numpy_helper.from_array(values, scale.name))
    onnx.save(model, target)
    return target


def halve(source: Path, path: Path, *, keep_io: bool) -> Path:
    """The same ONNX file in float16, with inputs and outputs in float32 or in float16 as well."""
    halved = convert_float_to_float16(onnx.load(source), keep_io_types=keep_io)
    onnx.save(halved, path)
    return path
