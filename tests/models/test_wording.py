from __future__ import annotations

from parity.models.wording import SHOWN, address_hint, listed, printable


def test_names_are_shown_without_commands_for_the_terminal() -> None:
    assert printable("fc.weight") == "fc.weight"
    assert printable("Größe 層") == "Größe 層"
    assert printable("fc\x1b[2J\n") == "fc\\x1b[2J\\n"


def test_a_list_says_how_many_more_there_are() -> None:
    assert listed([]) == ""
    assert listed("ab") == "a, b"
    assert listed(map(str, range(SHOWN + 2))) == "0, 1, 2, 3, 4 and 2 more"
    assert listed(["\x1b"]) == "\\x1b"


def test_an_address_is_told_from_a_path() -> None:
    for address in ("https://example.com/net.pt", "/home/me/https:/example.com/net.pt", "hf://org/model"):
        assert address_hint(address)
    for path in ("/home/me/net.pt", "C:/nets/net.pt", "net.pt", "nets.py:Net"):
        assert address_hint(path) is None
