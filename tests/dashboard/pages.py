"""What a reader sees of a page."""

import html
import re


def text_of(answer):
    """The words of a page in one line, without markup."""
    assert answer.status_code in (200, 201, 422), answer.status_code
    visible = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", answer.content.decode(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", visible)).split())
