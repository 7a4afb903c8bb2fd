"""How long it takes to tell which architecture a bare state dict belongs to.

    python -m benchmarks.recognise [--json FILE]

State dicts of torchvision architectures are saved: some with another number of classes, some with prefixes, some as
safetensors, and some that are of none. Each is then recognised in a process of its own. The seconds are those
beyond importing torch: reading the file, recognising, and in the last column building the network as well. Exit
status 1 where one of them comes out otherwise than it should, or recognising one takes more than 3 s.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import torch
from rich.console import Console
from rich.table import Table
from safetensors.torch import save_file
from torch import nn

from parity.models.architectures import build_architecture

ROOT = Path(__file__).resolve().parents[1]
ALLOWED_SECONDS = 3.0

CASES: dict[str, str] = {
    "alexnet": "", "convnext_tiny": "", "deeplabv3_mobilenet_v3_large": "", "densenet121": "", "efficientnet_b0": "",
    "efficientnet_v2_s": "", "fcn_resnet50(aux_loss=True, num_classes=4)": "module.", "lraspp_mobilenet_v3_large": "",
    "mnasnet0_5": "", "mobilenet_v2(num_classes=3)": "", "mobilenet_v3_small": "model.", "r3d_18(num_classes=101)": "",
    "raft_small": "", "regnet_y_400mf": "", "resnet18(num_classes=10)": "module._orig_mod.", "resnet50": "",
    "resnext50_32x4d": "", "shufflenet_v2_x1_0": "", "squeezenet1_1(num_classes=2)": "", "swin_t": "",
    "swin_v2_t(num_classes=37)": "net.", "vgg11_bn": "", "vit_b_16(image_size=384)": "", "wide_resnet50_2": "",
}  # fmt: skip
"""What is saved, and the prefix on every key of it."""

AS_SAFETENSORS = frozenset({"resnet50", "swin_t", "mnasnet0_5"})
UNKNOWN = "none of them"

_CHILD = """
import json, sys, time
from pathlib import Path
import torch
start = time.perf_counter()
from parity.models.architectures import NoMatch, build_architecture, recognise
from parity.models.files.checkpoint import read_state
tensors = read_state(Path(sys.argv[1])).tensors
read = time.perf_counter()
found = recognise({name: tuple(tensor.shape) for name, tensor in tensors.items()})
done = time.perf_counter()
refused = isinstance(found, NoMatch)
if not refused:
    build_architecture(found.reference, Path())
built = time.perf_counter()
outcome = str(found) if refused else found.reference
print(json.dumps({"outcome": outcome, "reading": read - start, "recognising": done - read, "building": built - done}))
"""


@dataclass(frozen=True)
class Timed:
    """One state dict: what it is, what was said of it, and the seconds that each step took."""

    name: str
    outcome: str
    reading: float
    recognising: float
    building: float

    @property
    def seconds(self) -> float:
        """Until it is known what the file is."""
        return self.reading + self.recognising

    @property
    def right(self) -> bool:
        """Whether it came out as it should, within the time."""
        known = self.name in CASES
        expected = self.outcome == f"torchvision:{self.name}" if known else not self.outcome.startswith("torchvision:")
        return expected and self.seconds <= ALLOWED_SECONDS


def _unknown(number: int) -> nn.Module:
    """Networks that torchvision does not have: one like a resnet18 but for a layer, and one like nothing."""
    if number:
        return nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4), num_layers=6, enable_nested_tensor=False)
    module = build_architecture("torchvision:resnet18", Path())
    module.layer3[1].conv1 = nn.Conv2d(256, 256, 5, bias=False)  # type: ignore[index, union-attr]  # its own attributes
    return module


def _saved(folder: Path, name: str) -> Path:
    number = name.removeprefix(UNKNOWN)
    module = _unknown(int(number)) if name not in CASES else build_architecture(f"torchvision:{name}", Path())
    prefix = CASES.get(name, "")
    state = {prefix + key: value for key, value in module.state_dict().items()}
    path = folder / f"weights{'.safetensors' if name in AS_SAFETENSORS else '.pth'}"
    if path.suffix == ".safetensors":
        save_file(state, path)
    else:
        torch.save(state, path)
    return path


def measure(name: str) -> Timed:
    """Save one state dict, and recognise it in a fresh process."""
    with tempfile.TemporaryDirectory(prefix="parity-recognise-") as folder:
        path = _saved(Path(folder), name)
        ran = subprocess.run(
            [sys.executable, "-c", _CHILD, str(path)], capture_output=True, text=True, check=False, cwd=ROOT
        )
    if ran.returncode:
        sys.exit(f"{name}: {ran.stderr}")
    return Timed(name, **json.loads(ran.stdout.splitlines()[-1]))


def _table(found: list[Timed]) -> Table:
    table = Table("state dict of", "comes out as", box=None, header_style="bold", title="seconds beyond torch's import")
    for heading in ("reading", "recognising", "together", "building"):
        table.add_column(heading, justify="right")
    for each in found:
        outcome = "the same" if each.outcome == f"torchvision:{each.name}" else each.outcome
        figures = (each.reading, each.recognising, each.seconds, each.building)
        table.add_row(each.name, outcome if each.right else f"[red]{outcome}[/]", *(f"{each:.2f}" for each in figures))
    together = sorted(each.seconds for each in found)
    table.add_row("median, worst", "", "", "", f"{median(together):.2f}, {together[-1]:.2f}", "", end_section=True)
    return table


def main() -> int:
    """Measure, print, and say by the exit status whether all came out right in time."""
    parser = argparse.ArgumentParser(description="How long it takes to recognise a state dict.")
    parser.add_argument("--json", type=Path, default=None, metavar="FILE")
    options = parser.parse_args()
    found = [measure(name) for name in (*CASES, f"{UNKNOWN}0", f"{UNKNOWN}1")]
    Console(width=150).print(_table(found))
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(each) for each in found], indent=2))
    return 0 if all(each.right for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
