"""The forms with which members write articles."""

from typing import Any, Final

from django import forms
from django.http import QueryDict

from benchdash.accounts.models import Project
from benchdash.articles.addresses import MAX_QUERY, PAGES
from benchdash.articles.models import MAX_TITLE, Article
from benchdash.articles.queries import articles_of
from benchdash.articles.services import MAX_PROSE, MAX_TEXT

_PLAIN: Final = "Plain text. An empty line begins a paragraph; addresses become links."


class ArticleForm(forms.Form):
    title = forms.CharField(max_length=MAX_TITLE)
    prose = forms.CharField(
        max_length=MAX_PROSE,
        required=False,
        label="Text",
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text=_PLAIN,
    )


class BlockForm(forms.Form):
    heading = forms.CharField(max_length=MAX_TITLE, required=False)
    text = forms.CharField(
        max_length=MAX_TEXT, required=False, widget=forms.Textarea(attrs={"rows": 4}), help_text=_PLAIN
    )


class AddForm(BlockForm):
    """A view for an article of the project, or for a new one with the title."""

    article = forms.ModelChoiceField(
        Article.objects.none(), required=False, empty_label="a new article", to_field_name="slug"
    )
    title = forms.CharField(
        max_length=MAX_TITLE, required=False, label="Title of a new article", widget=forms.TextInput()
    )
    page = forms.ChoiceField(choices=[(name, name) for name in PAGES], widget=forms.HiddenInput)
    query = forms.CharField(max_length=MAX_QUERY, required=False, widget=forms.HiddenInput, strip=False)

    field_order = ("article", "title", "heading", "text", "page", "query")

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = articles_of(project)
        self.fields["article"].queryset = choices  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not cleaned.get("article") and not cleaned.get("title") and "article" not in self.errors:
            self.add_error("title", "A new article needs a title.")
        return cleaned


def asked_view(query: QueryDict) -> tuple[str, str]:
    """Return the page and the query of the view that an address wants to save; empty where there is none."""
    page = query.get("page", "")
    return (page, query.get("query", "")) if page in PAGES else ("", "")
