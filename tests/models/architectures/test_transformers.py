"""Models that `save_pretrained` wrote are loaded from their folder, whole and offline."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from parity.errors import ModelError
from parity.models.architectures import build_architecture, carries_weights, fitted, known_inputs, make_architecture
from parity.models.signature import Signature, parse_signature
from tests.forked import run_code

HERE = Path()
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 37}
CONVOLVED = {"conv_dim": (16, 16), "conv_stride": (5, 2), "conv_kernel": (10, 3), "num_feat_extract_layers": 2,
             "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2}  # fmt: skip
PAIRED = {"d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4,
          "decoder_attention_heads": 4, "encoder_ffn_dim": 37, "decoder_ffn_dim": 37, "vocab_size": 99}  # fmt: skip


@pytest.fixture(autouse=True)
def transformers() -> Any:
    return pytest.importorskip("transformers", reason="transformers is not installed: pip install transformers")


def saved(transformers: Any, folder: Path, model: str, config: str, **options: Any) -> Any:
    torch.manual_seed(0)
    module = getattr(transformers, model)(getattr(transformers, config)(**options)).eval()
    module.save_pretrained(folder)
    return module


def bert(transformers: Any, folder: Path, model: str = "BertForSequenceClassification", **options: Any) -> Any:
    numbers = SMALL | {"vocab_size": 99, "max_position_embeddings": 64} | options
    return saved(transformers, folder, model, "BertConfig", **numbers)


def largest(signature: Signature) -> dict[str, torch.Tensor]:
    """Inputs with every dimension as large as it is promised, and every number as large as it may be."""
    found: dict[str, torch.Tensor] = {}
    for each in signature.inputs:
        sizes = [signature.symbols[dim.symbol].high or 2 if dim.symbol else dim.size or 0 for dim in each.dims]
        found[each.name] = torch.full(sizes, int(each.high)) if each.high is not None else torch.randn(sizes)
    return found


def test_a_folder_is_loaded_with_its_class_and_weights(transformers: Any, tmp_path: Path) -> None:
    written = bert(transformers, tmp_path / "bert", num_labels=3)
    made = make_architecture("transformers:bert", tmp_path)
    assert type(made.module) is type(written)
    assert not made.module.training
    assert made.notes == ("BertForSequenceClassification with the weights of the folder, sdpa attention",)
    state = made.module.state_dict()
    assert all(torch.equal(state[key], value) for key, value in written.state_dict().items())
    assert carries_weights("transformers:bert")
    assert fitted("transformers:bert", {}) == "transformers:bert"


def test_loading_shows_no_progress_and_leaves_the_random_state(
    transformers: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bert(transformers, tmp_path)
    capsys.readouterr()
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    build_architecture(f"transformers:{tmp_path}", HERE)
    assert torch.equal(torch.rand(4), expected)
    assert capsys.readouterr() == ("", "")
    assert transformers.utils.logging.is_progress_bar_enabled()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_weights_keep_the_dtype_that_they_are_stored_in(transformers: Any, tmp_path: Path, dtype: torch.dtype) -> None:
    bert(transformers, tmp_path).to(dtype).save_pretrained(tmp_path)
    assert {each.dtype for each in build_architecture(f"transformers:{tmp_path}", HERE).parameters()} == {dtype}


TEXT = ("input_ids: int64[N, T in 1..64] in 0..98", "attention_mask: int64[N, T] in 0..1")
MODELS: dict[str, tuple[str, str, dict[str, Any], tuple[str, ...]]] = {
    "bert": ("BertModel", "BertConfig", SMALL | {"vocab_size": 99, "max_position_embeddings": 64}, TEXT),
    "positions after the padding": (
        "RobertaForSequenceClassification",
        "RobertaConfig",
        SMALL | {"vocab_size": 99, "max_position_embeddings": 66},
        TEXT,
    ),
    "causal": (
        "GPT2LMHeadModel",
        "GPT2Config",
        {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 99, "n_positions": 64},
        TEXT,
    ),
    "no limit of positions": (
        "T5ForConditionalGeneration",
        "T5Config",
        {"d_model": 32, "d_kv": 8, "d_ff": 37, "num_layers": 1, "num_heads": 4, "vocab_size": 99},
        (
            "input_ids: int64[N, T in 1..128] in 0..98",
            "attention_mask: int64[N, T] in 0..1",
            "decoder_input_ids: int64[N, U in 1..128] in 0..98",
        ),
    ),
    "encoder and decoder": (
        "BartForConditionalGeneration",
        "BartConfig",
        PAIRED | {"max_position_embeddings": 64},
        (*TEXT, "decoder_input_ids: int64[N, U in 1..64] in 0..98"),
    ),
    "image": (
        "ViTForImageClassification",
        "ViTConfig",
        SMALL | {"image_size": 32, "patch_size": 8},
        ("pixel_values: float32[N, 3, 32, 32]",),
    ),
    "sound": (
        "Wav2Vec2ForCTC",
        "Wav2Vec2Config",
        SMALL | CONVOLVED | {"vocab_size": 30},
        ("input_values: float32[N, L in 16000..32000]",),
    ),
    "spectrogram": (
        "ASTForAudioClassification",
        "ASTConfig",
        SMALL | {"max_length": 48, "num_mel_bins": 32},
        ("input_values: float32[N, 48, 32]",),
    ),
    "spectrogram and text": (
        "WhisperForConditionalGeneration",
        "WhisperConfig",
        PAIRED
        | {"max_source_positions": 50, "max_target_positions": 40, "num_mel_bins": 8, "pad_token_id": 0,
           "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 3},
        ("input_features: float32[N, 8, 100]", "decoder_input_ids: int64[N, U in 1..40] in 0..98"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_takes_its_known_inputs_and_returns_tensors(transformers: Any, tmp_path: Path, kind: str) -> None:
    model, config, options, expected = MODELS[kind]
    saved(transformers, tmp_path, model, config, **options)
    inputs = known_inputs(f"transformers:{tmp_path}", HERE)
    assert inputs == expected
    module = build_architecture(f"transformers:{tmp_path}", HERE)
    with torch.no_grad():
        found = module(**largest(parse_signature(inputs)))
    assert found
    assert all(isinstance(each, torch.Tensor) for each in found.values()), found.keys()


def test_one_token_more_than_is_promised_is_one_too_many(transformers: Any, tmp_path: Path) -> None:
    """The limit is the model's own: a smaller promise would leave a part of it unjudged."""
    model, config, options, _ = MODELS["positions after the padding"]
    saved(transformers, tmp_path, model, config, **options)
    module = build_architecture(f"transformers:{tmp_path}", HERE)
    with pytest.raises((IndexError, RuntimeError)):
        module(torch.full((1, 65), 7))


def test_a_model_without_a_size_gets_that_of_its_preprocessor(transformers: Any, tmp_path: Path) -> None:
    numbers = {"embedding_size": 8, "hidden_sizes": [8, 8], "depths": [1, 1]}
    saved(transformers, tmp_path, "ResNetForImageClassification", "ResNetConfig", **numbers)
    reference = f"transformers:{tmp_path}"
    assert known_inputs(reference, HERE) is None
    preprocessor = tmp_path / "preprocessor_config.json"
    preprocessor.write_text(json.dumps({"size": {"shortest_edge": 96}, "do_center_crop": False, "crop_size": 64}))
    assert known_inputs(reference, HERE) == ("pixel_values: float32[N, 3, 96, 96]",)
    preprocessor.write_text(json.dumps({"size": {"shortest_edge": 96}, "crop_size": {"height": 64, "width": 48}}))
    assert known_inputs(reference, HERE) == ("pixel_values: float32[N, 3, 64, 48]",)


def test_inputs_that_a_processor_alone_knows_are_not_guessed(transformers: Any, tmp_path: Path) -> None:
    config = transformers.CLIPConfig(
        text_config=SMALL | {"vocab_size": 99}, vision_config=SMALL | {"image_size": 32, "patch_size": 8}
    )
    transformers.CLIPModel(config).save_pretrained(tmp_path)
    assert known_inputs(f"transformers:{tmp_path}", HERE) is None


def edited(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def another_head(folder: Path) -> None:
    edited(folder, architectures=["BertForTokenClassification"], num_labels=5, id2label=None)


def wider(folder: Path) -> None:
    edited(folder, intermediate_size=41)


def no_such_class(folder: Path) -> None:
    edited(folder, architectures=["BertForSequenceClasification"])


def own_code(folder: Path) -> None:
    (folder / "modeling_mine.py").write_text("raise SystemExit('this must not run')")
    edited(folder, architectures=["MineModel"], auto_map={"AutoModel": "modeling_mine.MineModel"})


def no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def cut(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:1000])


def no_json(folder: Path) -> None:
    (folder / "config.json").write_text("{")


def a_list(folder: Path) -> None:
    (folder / "config.json").write_text("[]")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (another_head, "the folder's weights do not fill BertForTokenClassification"),
        (wider, "do not fill BertForSequenceClassification"),
        (no_such_class, "has no class 'BertForSequenceClasification'"),
        (own_code, "MineModel is code that lies in the folder itself, and is not run"),
        (no_weights, "the folder holds no weights"),
        (cut, "cannot be built: SafetensorError"),
        (no_json, "config.json is damaged"),
        (a_list, "config.json holds no settings"),
    ],
)
def test_a_folder_that_is_not_whole_is_refused_with_the_reason(
    transformers: Any, tmp_path: Path, change: Callable[[Path], None], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bert(transformers, tmp_path)
    change(tmp_path)
    capsys.readouterr()
    with pytest.raises(ModelError, match=what):
        build_architecture(f"transformers:{tmp_path}", HERE)
    assert capsys.readouterr() == ("", "")


def test_weights_that_the_class_does_not_have_are_noted(transformers: Any, tmp_path: Path) -> None:
    bert(transformers, tmp_path)
    edited(tmp_path, architectures=["BertModel"])
    notes = make_architecture(f"transformers:{tmp_path}", HERE).notes
    assert notes[1] == "2 weights are in the folder and not in the class: classifier.bias, classifier.weight"


def test_pickled_weights_are_read_without_running_code(transformers: Any, tmp_path: Path) -> None:
    written = bert(transformers, tmp_path)
    (tmp_path / "model.safetensors").unlink()
    torch.save(written.state_dict(), tmp_path / "pytorch_model.bin")
    state = build_architecture(f"transformers:{tmp_path}", HERE).state_dict()
    assert all(torch.equal(state[key], value) for key, value in written.state_dict().items())
    torch.save({"run": Path("never-read")}, tmp_path / "pytorch_model.bin")
    with pytest.raises(ModelError, match="cannot be built"):
        build_architecture(f"transformers:{tmp_path}", HERE)


def test_a_program_that_was_exported_is_read_once_the_code_is_imported(transformers: Any, tmp_path: Path) -> None:
    """What such a model returns is of a type that its own module registers."""
    bert(transformers, tmp_path)
    module = build_architecture(f"transformers:{tmp_path}", HERE)
    ids = torch.full((2, 8), 7)
    torch.export.save(torch.export.export(module, (ids,)), tmp_path / "bert.pt2")
    reading = (
        f"import torch\nfrom pathlib import Path\nfrom parity.models.architectures import import_architecture\n"
        f"import_architecture('transformers:{tmp_path}', Path())\n"
        f"module = torch.export.load({str(tmp_path / 'bert.pt2')!r}).module()\n"
        "print(sorted(module(torch.full((2, 8), 7))))"
    )
    for code, status in (
        (reading, 0),
        (reading.replace("import_architecture('", "str('").replace(", Path())", ")"), 1),
    ):
        done = run_code(code)
        assert done.status == status, done.stderr
        assert done.stdout.strip() == ("" if status else "['logits']")


def test_a_folder_that_is_not_there_says_what_to_do(tmp_path: Path) -> None:
    for use in (build_architecture, known_inputs):
        with pytest.raises(ModelError) as caught:
            use("transformers:bert-base-uncased", tmp_path)
        assert "nothing is downloaded" in str(caught.value)
        assert "no such folder" in str(caught.value)


def test_an_adapter_is_told_from_a_model(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(ModelError, match="holds an adapter"):
        build_architecture(f"transformers:{tmp_path}", HERE)
