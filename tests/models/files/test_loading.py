from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm
from torch.optim.swa_utils import AveragedModel
from torchvision import models

from parity.errors import ModelError, UsageError
from parity.models.files.checkpoint import read_state
from parity.models.files.loading import load_state
from tests.models.files.versioned import Versioned

PATH = Path("w.pt")


def net(seed: int = 0, classes: int = 2) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, classes))


def same(one: nn.Module, other: nn.Module) -> bool:
    return all(torch.equal(value, other.state_dict()[key]) for key, value in one.state_dict().items())


def test_weights_that_fit_are_loaded_without_a_word() -> None:
    source, target = net(1), net(2)
    assert load_state(target, source.state_dict(), PATH) == ()
    assert same(target, source)


def test_a_wrapped_module_is_loaded_and_the_prefix_named() -> None:
    source, target = net(1), net(2)
    wrapped = nn.DataParallel(source).state_dict()
    assert load_state(target, wrapped, PATH) == ("the prefix 'module.' was removed from 9 keys",)
    assert same(target, source)


def test_an_averaged_model_is_loaded_without_its_counter() -> None:
    source, target = net(1), net(2)
    notes = load_state(target, AveragedModel(source).state_dict(), PATH)
    assert any("swa_utils" in note for note in notes)
    assert same(target, source)


def test_a_key_that_is_no_counter_is_not_dropped() -> None:
    with pytest.raises(ModelError, match="does not fit"):
        load_state(net(), {**net().state_dict(), "n_averaged": torch.zeros(())}, PATH)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5, 3)
        self.head = nn.Linear(3, 5, bias=False)
        self.head.weight = self.embedding.weight


def test_a_shared_tensor_that_the_file_keeps_once_is_loaded_for_both() -> None:
    target = Tied()
    (note,) = load_state(target, {"embedding.weight": torch.ones(5, 3)}, PATH)
    assert note == "the module shares these with others, which the file has: head.weight"
    assert torch.equal(target.head.weight, torch.ones(5, 3))


def test_a_tensor_that_is_only_like_another_is_missing() -> None:
    target = Tied()
    target.head.weight = nn.Parameter(target.embedding.weight.detach().clone())
    with pytest.raises(ModelError, match="1 missing"):
        load_state(target, {"embedding.weight": torch.ones(5, 3)}, PATH)


def test_one_of_several_files_is_told_by_its_name() -> None:
    state = {"0.weight": net(1).state_dict()["0.weight"]}
    with pytest.raises(ModelError) as caught:
        load_state(net(2), state, Path("folder/model-00001-of-00003.safetensors"))
    assert caught.value.hint == "this is file 1 of 3: give their folder, --arch transformers:folder"


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_packed_weights_of_quantized_layers_are_loaded(tmp_path: Path) -> None:
    def quantized(seed: int) -> nn.Module:
        made: nn.Module = torch.ao.quantization.quantize_dynamic(net(seed), {nn.Linear}).eval()
        return made

    source, target = quantized(1), quantized(2)
    path = tmp_path / "int8.pt"
    torch.save({"model": source.state_dict(), "epoch": 3}, path)
    state = read_state(path)
    assert "0._packed_params._packed_params" in state.tensors
    assert "0._packed_params._packed_params" not in state.shapes
    load_state(target, state.tensors, path)
    assert torch.equal(target(torch.ones(2, 3)), source(torch.ones(2, 3)))


def test_keys_left_out_are_allowed_by_name_and_told() -> None:
    source, target = net(1), net(2)
    state = {key: value for key, value in source.state_dict().items() if not key.startswith("2.")}
    before = target.state_dict()["2.weight"].clone()
    with pytest.raises(ModelError, match="does not fit"):
        load_state(target, state, PATH)
    notes = load_state(target, {**state, "aux.weight": torch.zeros(1)}, PATH, ("2.*", "aux.*"))
    assert notes == ("not from the file, but as the factory makes them: 2.weight, 2.bias",
                     "in the file, and not loaded: aux.weight")  # fmt: skip
    assert torch.equal(target.state_dict()["2.weight"], before)
    assert torch.equal(target.state_dict()["0.weight"], source.state_dict()["0.weight"])


def test_another_number_of_classes_can_be_allowed() -> None:
    target = net(2)
    before = target.state_dict()["2.weight"].clone()
    notes = load_state(target, net(1, classes=5).state_dict(), PATH, ("2.*",))
    assert notes == ("not from the file, but as the factory makes them: 2.weight, 2.bias",)
    assert torch.equal(target.state_dict()["2.weight"], before)


def test_a_pattern_that_allows_nothing_loads_nothing() -> None:
    target = net(2)
    before = target.state_dict()["0.weight"].clone()
    with pytest.raises(UsageError):
        load_state(target, net(1).state_dict(), PATH, ("2.*",))
    assert torch.equal(target.state_dict()["0.weight"], before)


@pytest.mark.parametrize("versioned", [True, False])
def test_counters_that_old_checkpoints_lack_are_no_failure(*, versioned: bool) -> None:
    source, target = net(1), net(2)
    state: Any = source.state_dict()
    del state["1.num_batches_tracked"]
    notes = load_state(target, state if versioned else dict(state), PATH)
    assert notes == ("the file has no num_batches_tracked for 1 layers, which eval mode does not use",)
    assert torch.equal(target.state_dict()["1.running_mean"], source.state_dict()["1.running_mean"])


def test_other_buffers_that_a_file_lacks_are_a_failure() -> None:
    state = dict(net(1).state_dict())
    del state["1.running_mean"]
    with pytest.raises(ModelError, match="1 missing"):
        load_state(net(2), state, PATH)


def test_what_the_modules_own_hooks_rename_is_loaded_and_told() -> None:
    source: Any = torch.nn.utils.weight_norm(nn.Linear(3, 4))
    target = weight_norm(nn.Linear(3, 4))
    (note,) = load_state(target, source.state_dict(), PATH)
    assert "own loading code" in note
    assert "weight_g" in note
    assert torch.allclose(target(torch.ones(1, 3)), source(torch.ones(1, 3)))


def test_a_module_that_loads_what_it_likes_has_the_keys_named_that_did_not_fit() -> None:
    class Lenient(nn.Linear):
        def load_state_dict(self, state: Any, strict: bool = True, assign: bool = False) -> Any:  # noqa: FBT001, FBT002  # torch's
            return super().load_state_dict(state, strict=False, assign=assign)

    (note,) = load_state(Lenient(2, 2), {"weight": torch.zeros(2, 2)}, PATH)
    assert note.endswith(": bias")


@pytest.mark.parametrize(("dtype", "told"), [(torch.float16, 9 - 1), (torch.float32, 0)])
def test_weights_of_another_dtype_are_told(dtype: torch.dtype, told: int) -> None:
    notes = load_state(net(2), net(1).to(dtype).state_dict(), PATH)
    assert notes == (() if not told else (
        f"{told} weights are float16 in the file and float32 in the module: they were converted",))  # fmt: skip


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda value: value.to("meta"), "no values (device meta)"),
        (lambda value: value.to_sparse(), "are sparse"),
        (lambda value: torch.quantize_per_tensor(value, 0.1, 0, torch.qint8), "are quantized"),
    ],
    ids=["meta", "sparse", "quantized"],
)
def test_tensors_that_hold_no_plain_values_are_refused(
    change: Callable[[torch.Tensor], torch.Tensor], says: str
) -> None:
    state = {**net(1).state_dict(), "0.weight": change(torch.ones(4, 3))}
    with pytest.raises(ModelError) as caught:
        load_state(net(2), state, PATH)
    assert says in caught.value.what
    assert caught.value.got == "0.weight"


def test_the_table_of_what_does_not_fit_is_part_of_the_message() -> None:
    state = {f"module.{key}": value for key, value in net(1).state_dict().items()}
    state["module.2.weights"] = state.pop("module.2.weight")
    with pytest.raises(ModelError) as caught:
        load_state(net(2), state, PATH)
    assert "1 missing, 1 unexpected, after the prefix 'module.' was removed from 9 keys" in str(caught.value)
    assert "2.weight [2, 4]" in str(caught.value)
    assert "2.weights [2, 4]" in str(caught.value)


def test_a_module_that_refuses_what_fits_says_why() -> None:
    class Refusing(nn.Linear):
        def _load_from_state_dict(self, *_: Any) -> None:
            raise ValueError("not today")

    with pytest.raises(ModelError, match="Refusing refuses the weights: not today"):
        load_state(Refusing(2, 2), nn.Linear(2, 2).state_dict(), PATH)


def test_versions_lose_the_prefix_with_the_keys() -> None:
    wrapped = nn.DataParallel(nn.Sequential(Versioned(2, 2))).state_dict()
    assert load_state(nn.Sequential(Versioned(2, 2)), wrapped, PATH) == (
        "the prefix 'module.' was removed from 2 keys",
    )


def test_weights_without_versions_are_taken_for_those_of_the_module_and_told() -> None:
    source, target = Versioned(2, 2), Versioned(2, 2)
    (note,) = load_state(target, dict(source.state_dict()), PATH)
    assert "does not say which version" in note
    assert same(target, source)


def test_weights_of_another_version_are_refused() -> None:
    state: Any = Versioned(2, 2).state_dict()
    state._metadata[""]["version"] = 1
    with pytest.raises(ModelError, match="version should be 2 instead of 1"):
        load_state(Versioned(2, 2), state, PATH)


def test_a_lazy_module_takes_the_shapes_of_the_file() -> None:
    source, target = nn.Linear(3, 4), nn.LazyLinear(4)
    load_state(target, source.state_dict(), PATH)
    assert torch.equal(target.weight, source.weight)


def test_the_names_of_an_older_torchvision_are_written_anew_and_said() -> None:
    module = models.densenet121(weights=None)
    weights = {re.sub(r"(norm|conv)([12])\.", r"\1.\2.", key): value for key, value in module.state_dict().items()}
    assert weights.keys() != module.state_dict().keys()
    notes = load_state(models.densenet121(weights=None), weights, Path("densenet.pth"))
    assert any("names are those of an older torchvision" in note for note in notes)


class Positions(nn.Linear):
    """Has a buffer that it makes itself, and does not want another key."""

    _keys_to_ignore_on_load_unexpected: ClassVar[list[str]] = [r"cached"]

    def __init__(self) -> None:
        super().__init__(3, 2)
        self.register_buffer("positions", torch.arange(4), persistent=False)


def test_keys_that_the_module_makes_or_leaves_out_itself_are_left_out_and_said() -> None:
    weights = {**Positions().state_dict(), "positions": torch.arange(4), "cached.bias": torch.arange(4)}
    (note,) = load_state(Positions(), weights, PATH)
    assert note == "the module makes or leaves out these keys of the file itself: positions, cached.bias"
    for module, key in ((nn.Linear(3, 2), "cached.bias"), (Positions(), "positions")):
        others = {**nn.Linear(3, 2).state_dict(), key: torch.arange(4) + 1}
        with pytest.raises(ModelError, match="does not fit"):
            load_state(module, others, PATH)


def within(prefix: str, module: nn.Module) -> dict[str, torch.Tensor]:
    return {f"{prefix}.{key}": value for key, value in module.state_dict().items()}


def test_of_two_networks_in_one_state_dict_the_message_says_how_to_take_one_and_that_works() -> None:
    trained, average, target = net(1), net(2), net(3)
    both = {**within("ema_model", average), **within("model", trained)}
    with pytest.raises(ModelError) as caught:
        load_state(target, both, PATH)
    assert "under each of 'ema_model.', 'model.'" in str(caught.value)
    (pattern,) = re.findall(r"--allow-missing '(.*?)'", str(caught.value))
    assert pattern == "ema_model.*", "what was trained comes before its average"
    notes = load_state(target, both, PATH, [pattern])
    assert same(target, trained)
    assert any("'model.' was removed" in note for note in notes)
    load_state(target, both, PATH, ["model.*"])
    assert same(target, average)


@pytest.mark.parametrize(
    ("added", "gone", "said"),
    [
        ({"0._packed_params._packed_params": torch.zeros(1)}, ["0.weight", "0.bias"], "as --artifact"),
        ({"0.weight_orig": torch.zeros(4, 3), "0.weight_mask": torch.ones(4, 3)}, ["0.weight"], "prune.remove"),
        ({"0.lora_A.default.weight": torch.zeros(2, 3), "0.lora_B.default.weight": torch.zeros(4, 2)}, [],
         "merge_and_unload"),
    ],
)  # fmt: skip
def test_weights_of_a_changed_module_are_told_from_those_of_another(
    added: dict[str, torch.Tensor], gone: list[str], said: str
) -> None:
    state = {key: value for key, value in net().state_dict().items() if key not in gone} | added
    with pytest.raises(ModelError, match=said):
        load_state(net(), state, PATH)
    with pytest.raises(ModelError) as other:
        load_state(net(), {**net().state_dict(), "0.mask": torch.ones(3)}, PATH)
    assert said not in str(other.value)
