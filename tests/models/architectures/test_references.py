"""References to named architectures are read, never evaluated."""

from __future__ import annotations

import subprocess
import sys

import pytest

from parity.errors import ModelError, UsageError
from parity.models.architectures import carries_weights, fitted, is_architecture
from parity.models.architectures.references import Reference, parse_reference, require


@pytest.mark.parametrize(
    "text",
    [
        "torchvision:resnet18",
        "torchvision:resnet18(num_classes=10)",
        "timm:vit_base_patch16_224.augreg_in21k(num_classes=3, img_size=(32, 64))",
    ],
)
def test_a_reference_is_written_as_it_is_read(text: str) -> None:
    assert is_architecture(text)
    assert str(parse_reference(*text.split(":", 1))) == text


@pytest.mark.parametrize(
    "text", ["package.module:factory", "model.py:Net", "resnet18", "torchvision", "torchvision:", "C:\\nets\\a.pt", ""]
)
def test_other_references_are_no_architectures(text: str) -> None:
    assert not is_architecture(text)


def test_a_factory_of_somebody_stays_as_it_is() -> None:
    assert fitted("package.module:factory", {"fc.weight": (3, 4)}) == "package.module:factory"


def test_arguments_are_literals() -> None:
    found = parse_reference("torchvision", "swin_t(dropout=0.5, norm=None, sizes=[1, (2,)], name='x', off=-1)")
    assert found.options == {"dropout": 0.5, "norm": None, "sizes": [1, (2,)], "name": "x", "off": -1}


@pytest.mark.parametrize(
    "text",
    [
        "resnet18(num_classes=__import__('os').getpid())",
        "resnet18(num_classes=n)",
        "resnet18(10)",
        "resnet18(**{'num_classes': 10})",
        "resnet18(num_classes=10",
        "resnet18(num_classes=10)(3)",
        "resnet18(num_classes=1, num_classes=2)",
        "resnet 18",
        "(num_classes=10)",
    ],
)
def test_what_is_no_call_with_literal_keywords_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_reference("torchvision", text)
    assert "SCHEME:NAME(key=literal, ...)" in str(caught.value)


@pytest.mark.parametrize("argument", ["weights='DEFAULT'", "pretrained=True", "weights_backbone='DEFAULT'"])
def test_weights_from_elsewhere_are_refused(argument: str) -> None:
    with pytest.raises(UsageError, match="nothing is downloaded"):
        parse_reference("torchvision", f"resnet18({argument})")


def test_arguments_that_were_written_stay() -> None:
    written = Reference("torchvision", "resnet18", (("num_classes", 3),))
    assert written.with_arguments(num_classes=4, width_per_group=64).options == {
        "num_classes": 3,
        "width_per_group": 64,
    }


def test_a_package_that_is_not_installed_is_named_with_the_command_that_installs_it() -> None:
    with pytest.raises(ModelError) as caught:
        require("no_such_package_of_networks", "timm:resnet18")
    assert str(caught.value).splitlines() == [
        "no_such_package_of_networks is not installed",
        "  where:   timm:resnet18",
        "  next:    pip install no_such_package_of_networks",
    ]


def test_a_package_that_is_broken_is_not_called_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise RuntimeError("operator torchvision::nms does not exist\nand more")

    monkeypatch.setattr("importlib.import_module", broken)
    with pytest.raises(ModelError, match="torchvision cannot be imported: RuntimeError: operator torchvision::nms"):
        require("torchvision", "torchvision:resnet18")


def test_torchvision_has_no_weights_of_its_own() -> None:
    assert not carries_weights("torchvision:resnet18")
    assert not carries_weights("timm:resnet18")


def test_asking_what_a_reference_is_loads_no_torch() -> None:
    code = (
        "import sys\nfrom parity.models.architectures import carries_weights, is_architecture, recognise\n"
        "is_architecture('timm:resnet18'), carries_weights('torchvision:resnet18'), recognise({'a': (1,)})\n"
        "print(sorted({'torch', 'torchvision', 'timm', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
