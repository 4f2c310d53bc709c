import pytest

from benchdash.dashboard.shell.markdown import comment_html


def test_what_people_emphasise_list_and_quote_is_formatted():
    html = comment_html("**a** `b`\n\n- c\n\n> d\n\n```\ne\n```")
    for part in ("<strong>a</strong>", "<code>b</code>", "<li>c</li>", "<blockquote>", "<pre><code>e\n"):
        assert part in html


def test_a_line_break_stays_one():
    assert comment_html("a\nb") == "<p>a<br />\nb</p>\n"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<b onclick=x>",
        "[a](javascript:alert(1))",
        "[a](data:text/html,x)",
        "[a](/sign-out/)",
        "![a](https://example.org/a.png)",
        "# a",
        "a\n===",
        "<javascript:alert(1)>",
    ],
)
def test_html_scripts_pictures_and_headings_stay_text(text):
    html = comment_html(text)
    for forbidden in ("<script", "<b ", 'href="javascript', 'href="data', 'href="/', "<img", "<h1"):
        assert forbidden not in html


def test_an_address_becomes_a_link_that_search_engines_do_not_follow():
    link = '<a href="https://example.org/a_b_c?d=1&amp;e=2" rel="nofollow">'
    assert link in comment_html("see https://example.org/a_b_c?d=1&e=2.")
    assert link in comment_html("[see](https://example.org/a_b_c?d=1&e=2)")
    assert comment_html("[https://a.example.org](https://b.example.org)").count("<a ") == 1


def test_what_looks_like_markup_in_code_stays_as_it_is():
    assert "<code>&lt;b&gt; https://example.org</code>" in comment_html("`<b> https://example.org`")
