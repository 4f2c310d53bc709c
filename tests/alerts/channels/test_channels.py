"""Which channel an address belongs to."""

import pytest
from django.core.exceptions import ValidationError

from benchdash.alerts import channels
from benchdash.alerts.channels import channel_of, email, webhook


def test_an_address_of_e_mail_belongs_to_e_mail():
    assert channel_of("ada@example.com") is email


def test_an_address_of_the_web_is_a_webhook():
    assert channel_of("https://chat.example/hook?to=ada@example.com") is webhook


@pytest.mark.parametrize("address", ["", "ada", "chat.example/hook"])
def test_what_no_channel_handles_is_refused_by_e_mail(address):
    with pytest.raises(ValidationError):
        channel_of(address).check(address)


def test_a_module_of_the_package_is_a_channel_by_its_functions():
    functions = ("handles", "check", "server_of", "send", "ask")
    assert {*channels._channels()} == {"email", "webhook"}
    assert all(callable(getattr(channel, name)) for channel in (email, webhook) for name in functions)
