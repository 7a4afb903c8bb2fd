from __future__ import annotations

import pytest
import torch
from torch import nn

from parity.errors import UsageError
from parity.models.binding import bound, forward_of, plan_passing, suggested_inputs, taking_inputs_alone

X, SHIFT = torch.randn(2, 3), torch.randn(2, 3)


class Plain(nn.Module):
    def forward(self, x: torch.Tensor, scale: torch.Tensor | None = None) -> torch.Tensor:
        return x if scale is None else x * scale


class KeywordOnly(nn.Module):
    def forward(
        self, x: torch.Tensor, scale: torch.Tensor | None = None, *, shift: torch.Tensor | None = None
    ) -> torch.Tensor:
        scaled = x if scale is None else x * scale
        return scaled if shift is None else scaled - shift


class Required(nn.Module):
    def forward(self, x: torch.Tensor, *, mask: torch.Tensor) -> torch.Tensor:
        return x * mask


class Anything(nn.Module):
    def forward(self, *args: torch.Tensor, **kwargs: torch.Tensor) -> torch.Tensor:
        return args[0] - kwargs["other"] if kwargs else args[0] - args[1]


def test_a_module_that_takes_its_inputs_in_order_stays_itself() -> None:
    module = Plain()
    assert bound(module, ("x", "scale"), "m") == (module, ())
    assert bound(module, ("image",), "m") == (module, ("left at the defaults of forward: scale",))


def test_a_keyword_only_input_is_passed_by_keyword() -> None:
    module, notes = bound(KeywordOnly(), ("x", "shift"), "m")
    torch.testing.assert_close(module(X, SHIFT), X - SHIFT)
    assert notes == ("called as forward(x, shift=shift)", "left at the defaults of forward: scale")


def test_inputs_written_in_another_order_are_passed_by_their_names() -> None:
    module, notes = bound(Plain(), ("scale", "x"), "m")
    torch.testing.assert_close(module(SHIFT, X), X * SHIFT)
    assert notes == ("called as forward(x, scale)",)


def test_inputs_with_names_of_their_own_are_passed_in_order_among_those_that_are_named() -> None:
    module, _ = bound(KeywordOnly(), ("shift", "image"), "m")
    torch.testing.assert_close(module(SHIFT, X), X - SHIFT)


def test_a_caller_can_be_exported_like_any_module() -> None:
    module, _ = bound(Required().eval(), ("x", "mask"), "m")
    traced = torch.jit.trace(module, (X, SHIFT), check_trace=False)
    exported = torch.export.export(module, (X, SHIFT)).module()
    scripted = torch.jit.script(module)
    for each in (traced, exported, scripted):
        torch.testing.assert_close(each(X, SHIFT), X * SHIFT)


def test_what_takes_anything_is_given_everything_by_position() -> None:
    module = Anything()
    assert bound(module, ("a", "b"), "m") == (module, ())


@pytest.mark.parametrize(
    ("module", "names", "message"),
    [
        (Plain(), ("a", "b", "c"), "the model does not take the input 'c'"),
        (Required(), ("x",), "no input is given for mask"),
        (Required(), ("x", "masks"), "the model does not take the input 'masks'"),
        (Plain(), ("scale",), "no input is given for x"),
    ],
)
def test_inputs_that_do_not_fit_forward_are_refused(module: nn.Module, names: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        bound(module, names, "m")
    assert str(forward_of(module)) in str(raised.value)


def test_torchscript_tells_what_it_takes_by_its_schema() -> None:
    scripted = torch.jit.script(Plain())
    assert str(forward_of(scripted)) == "forward(x, scale=…)"
    assert plan_passing(forward_of(scripted), ("x",), "m").plain(("x",))


def test_forward_is_shown_as_it_is_written() -> None:
    assert str(forward_of(KeywordOnly())) == "forward(x, scale=…, *, shift=…)"
    assert str(forward_of(Anything())) == "forward(*args, **kwargs)"


class Looked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 4)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = self.words(tokens) * mask
        return made


def test_lines_to_complete_have_what_the_first_layer_expects() -> None:
    assert suggested_inputs(nn.Sequential(nn.Conv2d(3, 8, 3))) == ("input: float32[N, 3, H, W]",)
    assert suggested_inputs(nn.Linear(16, 2)) == ("input: float32[N, 16]",)
    assert suggested_inputs(Looked()) == ("tokens: int64[N, T in 1..128] in 0..49", "mask: float32[N, ...]")
    assert suggested_inputs(Plain()) == ("x: float32[N, ...]",)


class Rated(nn.Module):
    def forward(self, wave: torch.Tensor, rate: int, *, loud: bool = True) -> torch.Tensor:
        return wave * rate if loud else wave


def test_a_number_that_is_no_tensor_is_shown_and_written_as_what_it_is() -> None:
    for module in (Rated(), torch.jit.script(Scaled())):
        assert suggested_inputs(module)[1] == "rate: int64[] in 0..1"
    assert str(forward_of(Rated())) == "forward(wave, rate: int, *, loud: bool=…)"


class Scaled(nn.Module):
    def forward(self, wave: torch.Tensor, rate: int) -> torch.Tensor:
        return wave * rate


class Branching(nn.Module):
    def forward(self, x: torch.Tensor, embed: bool = False) -> torch.Tensor:  # noqa: FBT001, FBT002  # what users write
        return x * 2 if embed else x


def test_an_optional_argument_is_no_input_of_what_takes_inputs_alone() -> None:
    with pytest.raises(torch.fx.proxy.TraceError):
        torch.fx.symbolic_trace(Branching())
    alone = taking_inputs_alone(Branching(), ("x",))
    torch.testing.assert_close(torch.fx.symbolic_trace(alone)(X), X)
    plain = nn.Linear(3, 2)
    assert taking_inputs_alone(plain, ("x",)) is plain


class Terse(nn.Module):
    def forward(s, x: torch.Tensor) -> torch.Tensor:  # noqa: N805  # some write it so
        return x * 2


def test_a_scripted_module_is_no_input_of_its_own_whatever_it_is_called() -> None:
    scripted = torch.jit.script(Terse())
    assert [each.name for each in forward_of(scripted).parameters] == ["x"]
    assert bound(scripted, ("x",), "m") == (scripted, ())
