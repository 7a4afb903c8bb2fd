"""A request that cannot be met: one clear message, exit status 2, no traceback, nothing written."""

from __future__ import annotations

import pytest

from tests.end_to_end.background import Background
from tests.end_to_end.bad_requests import BAD_REQUESTS, BadRequest
from tests.end_to_end.command import Project


@pytest.mark.parametrize("request_", BAD_REQUESTS, ids=lambda each: each.name)
def test_it_is_refused_with_one_message_and_leaves_nothing(
    bad: Background, project: Project, request_: BadRequest
) -> None:
    ran = bad[request_.name]
    assert ran.status == 2, ran.text
    assert "Traceback" not in ran.text
    messages = [line for line in ran.stderr.splitlines() if line.startswith("error: ")]
    assert len(messages) == 1, ran.stderr
    assert all(words in ran.stderr for words in request_.says), ran.stderr
    assert not ran.out.is_dir(), sorted(ran.out.rglob("*"))
    assert not list(project.folder.glob("*.tmp"))


def test_a_checkpoint_that_would_run_code_has_run_none(bad: Background, project: Project) -> None:
    assert bad["a checkpoint that would run code"].status == 2
    assert bad["a pickle that would run code"].status == 2
    assert not (project.folder / "marker").exists()


def test_a_file_where_the_report_should_go_is_left_as_it_is(bad: Background, project: Project) -> None:
    assert bad["a file where the report should go"].status == 2
    assert (project.folder / "taken").read_text() == "a file, where --out should be a folder"
