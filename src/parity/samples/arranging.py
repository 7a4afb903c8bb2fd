"""Python objects that hold samples: stacked arrays, lists, generators, torch's Datasets and DataLoaders."""

from __future__ import annotations

import copy
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from parity.arrays import digest
from parity.errors import SampleError
from parity.samples.rows import Column, Columns, Held, Key, Row, Rows, Source, is_label
from parity.samples.values import apart, array_of, is_array, is_image, is_plain

Prepare = Callable[[Any, str], Mapping[Key, Any]]
"""What makes the values of a sample from a picture; the text says where the picture is, for messages."""

MOST = 100_000
"""Samples that an iterable of unknown length may give. Twice the largest held-out set of images in common use: what
goes on after that most likely never ends, and would fill the disk before anybody sees why."""

_FORMS = (
    "a dictionary of stacked arrays, or an iterable (a generator, a list, a Dataset) of samples: an array, a tuple in "
    "the order of the inputs, or a dictionary"
)


def arrange(held: Any, where: str, inputs: int | None = None, prepare: Prepare | None = None) -> Source:
    """The samples in an object.

    Args:
        held: A tensor or an array that is stacked, a dictionary of these, a list or tuple of them (one for each
            input, labels last) or of samples, a map-style or iterable Dataset, a DataLoader, or any iterable.
        where: What to call it in messages.
        inputs: How many inputs the model has, where that is known: it tells stacked arrays from samples in a list.
        prepare: Applied to pictures.

    Raises:
        SampleError: it is nothing of these.
    """
    held = apart(held)
    if prepare is not None and (isinstance(held, Mapping) or is_array(held)):
        raise no_pictures(where)
    if isinstance(held, Mapping):
        arrays: dict[Key, Column] = {
            str(name): Held(apart(value), f"{where}, {name!r}")
            for name, value in held.items()
            if is_array(value) or isinstance(value, list | tuple)
        }
        return Columns(where, arrays)
    if is_array(held):
        return Columns(where, {0: Held(held, where)})
    if isinstance(held, list | tuple):
        if _are_columns(held, inputs):
            return Columns(where, {index: Held(each, where) for index, each in enumerate(held)})
        return Rows(where, _rows(held, where, prepare))
    if held is None or isinstance(held, str | bytes) or not _can_be_iterated(held):
        hint = "does the function end without a return?" if held is None else None
        raise SampleError("these are no samples", where=where, allowed=_FORMS, got=type(held).__name__, hint=hint)
    if _is_loader(held):
        return Rows(where, _unbatched(held, where))
    return Rows(where, _rows(_in_order(held, where), where, prepare, ends=_has_length(held)))


def _are_columns(held: Sequence[Any], inputs: int | None) -> bool:
    """Whether arrays in a list are one for each input, and not one for each sample."""
    if not held or not all(is_array(each) and len(each.shape) for each in held):
        return False
    if len({each.shape[0] for each in held}) > 1:
        return False
    if inputs is None:
        return len({(len(each.shape), str(each.dtype)) for each in held}) > 1  # samples of one input are alike in both
    if inputs > 1:
        return len(held) in (inputs, inputs + 1)  # an array alone is no sample of such a model
    first, last = held[0], held[-1]
    return len(held) == 2 and len(last.shape) == 1 < len(first.shape) and is_label(last)  # noqa: PLR2004  # inputs and labels


def _can_be_iterated(held: Any) -> bool:
    return isinstance(held, Iterable) or (hasattr(held, "__getitem__") and hasattr(held, "__len__"))


def _has_length(held: Any) -> bool:
    try:
        return len(held) >= 0
    except TypeError:  # it has none, or it is a DataLoader whose dataset has none
        return False


def _is_loader(held: Any) -> bool:
    data = sys.modules.get("torch.utils.data")
    return data is not None and isinstance(held, data.DataLoader)


def _in_order(held: Any, where: str) -> Iterator[Any]:
    """The items of an iterable; by index where it has a length, since a Dataset need not end by itself.

    Raises:
        SampleError: an item is not the same when it is asked for again.
    """
    if isinstance(held, Iterator) or not (hasattr(held, "__getitem__") and hasattr(held, "__len__")):
        yield from held
        return
    if isinstance(held, Sequence) or not len(held):
        yield from (held[index] for index in range(len(held)))
        return
    first = held[0]
    if _digests(first) != _digests(held[0]):
        raise changing(f"{where}, sample 0", "the dataset")
    yield first
    yield from (held[index] for index in range(1, len(held)))


def _digests(item: Any) -> list[str]:
    return [digest(array_of(value, "")) for value in row_of(item, "").values.values() if is_array(value)]


def changing(where: str, what: str) -> SampleError:
    """What to say of samples that are others each time."""
    return SampleError(
        f"{what} gives other numbers when it is asked again, so that no two runs would be judged on the same samples",
        where=where, hint="leave out random augmentation: samples are prepared as for evaluation",
    )  # fmt: skip


def no_pictures(where: str) -> SampleError:
    """What to say where there is nothing to prepare."""
    return SampleError(
        "the preprocessing is for pictures, and these samples have none", where=where,
        hint="leave out --preprocess; where the settings have one, --preprocess '' is none",
    )  # fmt: skip


def _rows(items: Iterable[Any], where: str, prepare: Prepare | None, *, ends: bool = True) -> Iterator[Row]:
    source: Iterator[Any] | None = None
    for index in itertools.count():
        place = f"{where}, sample {index}"
        try:
            source = iter(items) if source is None else source
            item = next(source)
        except StopIteration:
            return
        except SampleError:
            raise
        except Exception as error:
            raise SampleError(f"the samples raised {type(error).__name__}: {error}", where=place) from error
        if index >= MOST and not ends:
            raise SampleError(
                f"the samples did not end after {MOST:,} of them", where=where, allowed="an iterable that ends",
                hint="end it: itertools.islice(samples, 1000); or give a Dataset or a list, whose length is known",
            )  # fmt: skip
        yield _prepared(row_of(item, place), prepare)


def row_of(item: Any, place: str) -> Row:
    """One sample: a dictionary, a tuple in the order of the inputs, or one value; `(x, y)` where x is either."""
    if isinstance(item, Mapping):
        return Row({str(name): value for name, value in item.items()}, place)
    if isinstance(item, tuple) and hasattr(item, "_asdict"):
        return Row(item._asdict(), place)
    if not _is_several(item):
        return Row({0: item}, place)
    if len(item) == 2 and (isinstance(item[0], Mapping) or _is_several(item[0])):  # noqa: PLR2004  # inputs and a label
        return Row(row_of(item[0], place).values, place, item[1])
    return Row(dict(enumerate(item)), place)


def _is_several(item: Any) -> bool:
    """Whether a sequence holds one value each for several inputs, and is not the numbers of a single one."""
    if isinstance(item, tuple):
        return any(not isinstance(each, int | float | complex) for each in item)
    return isinstance(item, list) and any(
        is_array(each) or isinstance(each, Mapping) or is_image(each) or (isinstance(each, list) and not is_plain(each))
        for each in item
    )


def _prepared(row: Row, prepare: Prepare | None) -> Row:
    pictures = [key for key, value in row.values.items() if is_image(value)]
    if prepare is None:
        return row
    if not pictures:
        raise no_pictures(row.place)
    values = dict(row.values)
    made = prepare(values.pop(pictures[0]), row.place)
    if len(made) == 1 and isinstance(pictures[0], str):
        made = {pictures[0]: next(iter(made.values()))}
    label = row.label if row.label is not None else next((each for each in values.values() if is_label(each)), None)
    return Row({**{key: each for key, each in values.items() if isinstance(key, str)}, **made}, row.place, label)


def _unbatched(loader: Any, where: str) -> Iterator[Row]:
    """The samples in the batches of a DataLoader.

    Raises:
        SampleError: it shuffles, or one of its batches cannot be taken apart.
    """
    data = sys.modules["torch.utils.data"]
    sampler = loader.sampler if loader.batch_sampler is None else getattr(loader.batch_sampler, "sampler", None)
    if not isinstance(loader.dataset, data.IterableDataset) and not isinstance(sampler, data.SequentialSampler):
        raise SampleError(
            "the DataLoader gives its samples in another order each time", where=where, allowed="shuffle=False",
            got=type(sampler).__name__, hint="return its dataset instead",
        )  # fmt: skip
    alone = copy.copy(loader)
    # The processes that read samples have none of their own; in order, one of them gives the same.
    alone.num_workers = alone.timeout = 0
    rows = _rows(alone, where, None, ends=_has_length(alone))
    if loader.batch_size is None and loader.batch_sampler is None:
        yield from rows
        return
    count = 0
    for batch in rows:
        values = {key: value for key, value in batch.values.items() if is_array(value) and len(value.shape)}
        sizes = {len(value) for value in values.values()}
        if len(sizes) != 1:
            raise SampleError("a batch of the DataLoader cannot be taken apart", where=batch.place,
                              allowed="arrays with as many rows each", got=str(sorted(sizes)),
                              hint="return its dataset instead")  # fmt: skip
        stacked_label = batch.label if is_array(batch.label) else None
        for index in range(sizes.pop()):
            label = None if stacked_label is None else stacked_label[index]
            yield Row({key: value[index] for key, value in values.items()}, f"{where}, sample {count}", label)
            count += 1
