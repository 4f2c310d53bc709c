"""HTML that is made in Python."""

from django.utils.safestring import mark_safe

from benchdash.dashboard.markup import html, joined


def test_text_is_escaped_and_html_is_not():
    made = html("<b>{}</b>{}{}", "a < \"b\" & 'c'", mark_safe("<i>d</i>"), 7)
    assert made == "<b>a &lt; &quot;b&quot; &amp; &#x27;c&#x27;</b><i>d</i>7"
    assert html("{}", made) == made


def test_braces_in_a_part_are_only_text():
    assert html("<b>{}</b>", "{0} {}") == "<b>{0} {}</b>"


def test_pieces_are_joined_as_html():
    assert html("{}", joined([html("<b>{}</b>", "a"), html("<b>{}</b>", "<")])) == "<b>a</b><b>&lt;</b>"
