"""Which channel an address belongs to."""

import pytest
from django.core.exceptions import ValidationError

from benchdash.alerts import channels
from benchdash.alerts.channels import channel_of, email


def test_an_address_of_e_mail_belongs_to_e_mail():
    assert channel_of("ada@example.com") is email


@pytest.mark.parametrize("address", ["", "ada", "https://chat.example/hook?to=ada@example.com"])
def test_what_no_channel_handles_is_refused_by_e_mail(address):
    with pytest.raises(ValidationError):
        channel_of(address).check(address)


def test_a_module_of_the_package_is_a_channel_by_its_functions():
    functions = ("handles", "check", "send", "ask")
    assert {*channels._channels()} == {"email"}
    assert all(callable(getattr(email, name)) for name in functions)
