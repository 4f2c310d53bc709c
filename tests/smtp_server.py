"""A real SMTP server that keeps what it receives."""

import asyncio
import email
import email.policy
import socket
from dataclasses import dataclass
from email.message import EmailMessage

from aiosmtpd.controller import Controller

from tests.waiting import wait_until


@dataclass(frozen=True)
class Mail:
    sender: str
    recipients: list[str]
    message: EmailMessage

    @property
    def subject(self):
        return self.message["Subject"]

    @property
    def text(self):
        return self.message.get_body(("plain",)).get_content()

    @property
    def html(self):
        return self.message.get_body(("html",)).get_content()


class SmtpServer:
    """``answer`` is what the server says to a mail; one that does not begin with 2 refuses it.

    ``no_mailbox`` is what it says of recipients that it does not know, by their address. While it
    ``dies_in_data`` it breaks off after it has read a mail, which it keeps where ``keeps_what_broke_off``;
    ``slow_s`` seconds pass before it answers to a mail.
    """

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._controller = Controller(self, hostname="127.0.0.1", port=self.port)
        self.forget_everything()

    @property
    def url(self):
        return f"smtp://127.0.0.1:{self.port}"

    def start(self):
        self._controller.start()

    def stop(self):
        self._controller.stop()

    def forget_everything(self):
        self.mails = []
        self.answer = "250 OK"
        self.no_mailbox = {}
        self.dies_in_data = self.keeps_what_broke_off = False
        self.slow_s = 0.0

    def wait_for(self, count, *, within=180.0):
        """The mails, once there are ``count`` of them."""
        wait_until(lambda: len(self.mails) >= count, within=within)
        return self.mails

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802 - aiosmtpd's name
        if refusal := self.no_mailbox.get(address):
            return refusal
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802 - aiosmtpd's name
        await asyncio.sleep(self.slow_s)
        if self.answer.startswith("2") and (self.keeps_what_broke_off or not self.dies_in_data):
            message = email.message_from_bytes(envelope.content, policy=email.policy.default)
            self.mails.append(Mail(envelope.mail_from, envelope.rcpt_tos, message))
        if self.dies_in_data:
            server.transport.abort()
        return self.answer
