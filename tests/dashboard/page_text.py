"""What a reader sees of a page."""

import html
import re


def text_of(answer):
    """The words of a page in one line, without markup."""
    assert answer.status_code in (200, 201, 422), answer.status_code
    visible = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", answer.content.decode(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", visible)).split())


def said_after(client, answer):
    """What the page says to which a form leads."""
    assert answer.status_code == 302, text_of(answer)
    return text_of(client.get(answer["Location"]))


def matrix(answer):
    """The words of the matrix, a list for each row, without the charts of open rows."""
    page = without_charts(answer.content.decode())
    table = re.search(r'<table[^>]*id="matrix".*?</table>', page, re.DOTALL)[0]
    rows = re.findall(r"<tr.*?</tr>", table, re.DOTALL)
    cells = [re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL) for row in rows]
    return [[" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in row] for row in cells]


def without_charts(page):
    """The page without what stands within the matrix below its open rows."""
    return re.sub(r'<tr class="matrix-charts">.*?</div>\s*</td></tr>', "", page, flags=re.DOTALL)


def chip(answer, name):
    """What a filter says that it has chosen."""
    found = re.search(rf'id="filter-{name}".*?chip-value">([^<]*)<', answer.content.decode(), re.DOTALL)
    return found and found[1]
