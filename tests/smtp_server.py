"""A real SMTP server that keeps what it receives."""

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
    """``answer`` is what the server says to a mail; one that does not begin with 2 refuses it."""

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

    def wait_for(self, count, *, within=30.0):
        """The mails, once there are ``count`` of them."""
        wait_until(lambda: len(self.mails) >= count, within=within)
        return self.mails

    async def handle_DATA(self, server, session, envelope):  # noqa: N802 - aiosmtpd's name
        if self.answer.startswith("2"):
            message = email.message_from_bytes(envelope.content, policy=email.policy.default)
            self.mails.append(Mail(envelope.mail_from, envelope.rcpt_tos, message))
        return self.answer
