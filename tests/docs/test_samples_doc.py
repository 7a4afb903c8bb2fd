"""Every source that docs/samples.md shows is read as the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from parity.models.signature import parse_signature
from parity.samples.rows import GatheredLabels
from parity.samples.sources import infer_inputs, read_samples
from tests.docs.shell import ROOT

PAGE = (ROOT / "docs" / "samples.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"```python\n(.*?)```\n\n```\n(.*?)```\n\nRead as (.*?), (with|without) labels\.", re.DOTALL)
SHOWN: list[tuple[str, str, str, str]] = EXAMPLE.findall(PAGE)


def test_every_example_of_the_page_is_found() -> None:
    assert len(SHOWN) == PAGE.count("```python") > 6


@pytest.mark.parametrize("shown", SHOWN)
def test_an_example_is_read_as_the_page_says(
    shown: tuple[str, str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, command, inputs, labelled = shown
    for package in ("PIL", "torchvision"):
        if package in code + command:
            pytest.importorskip(package, reason="the example is about images")
    monkeypatch.chdir(tmp_path)
    file = re.match(r"# (\w+\.py)\n", code)
    if file:
        Path(file[1]).write_text(code, encoding="utf-8")
    else:
        exec(compile(code, "docs/samples.md", "exec"), {"__name__": "example"})  # noqa: S102  # the page is ours
    words = shlex.split(command)
    samples, preprocess = (
        words[words.index(option) + 1] if option in words else None for option in ("--samples", "--preprocess")
    )
    assert samples is not None
    expected = tuple(re.findall(r"`([^`]+)`", inputs))
    signature = parse_signature(expected)
    assert infer_inputs(samples, tmp_path, signature.names, preprocess) == expected
    found, labels = read_samples(samples, signature, tmp_path, preprocess)
    assert len(list(found)) > 1
    whole = labels.whole() if isinstance(labels, GatheredLabels) else labels
    assert (whole is not None) is (labelled == "with")
