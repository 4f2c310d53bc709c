"""How many of one address are let in."""

from benchdash.entrance.connections import Visitors


def test_an_address_is_let_in_until_it_has_as_many_as_may_be_and_again_when_one_left(settings):
    settings.MAX_CONNECTIONS_PER_ADDRESS = 2
    visitors = Visitors()
    assert [visitors.enter("10.0.0.1") for _ in range(3)] == [True, True, False]
    assert visitors.enter("10.0.0.2")
    visitors.leave("10.0.0.1")
    assert visitors.enter("10.0.0.1")


def test_all_together_have_a_limit_too(settings):
    settings.MAX_CONNECTIONS = 3
    visitors = Visitors()
    assert [visitors.enter(f"10.0.0.{number}") for number in range(5)] == [True, True, True, False, False]
