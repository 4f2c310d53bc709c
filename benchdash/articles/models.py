"""Saved comparisons with their prose."""

from django.db import models
from django.utils import timezone

from benchdash.accounts.models import Project, User

MAX_TITLE = 200


class Article(models.Model):
    """A saved comparison at a permanent address: its slug stays when the title changes.

    A deleted one keeps its slug, so that an address never means something else, and can be put back.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="articles")
    slug = models.SlugField(max_length=80)
    title = models.CharField(max_length=MAX_TITLE)
    prose = models.TextField(blank=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    changed_at = models.DateTimeField(default=timezone.now)
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "slug"], name="article_slug_is_unique_in_its_project")
        ]

    def __str__(self) -> str:
        return self.title


class Block(models.Model):
    """A view of an article: the address of a page that names all it compares, a heading and a text."""

    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="blocks")
    position = models.PositiveIntegerField()
    heading = models.CharField(max_length=MAX_TITLE, blank=True)
    text = models.TextField(blank=True)
    page = models.CharField(max_length=20)  # a key of benchdash.articles.addresses.PAGES
    query = models.TextField()
    # Runs of what it compares that were recorded later are named as new.
    saved_at = models.DateTimeField(default=timezone.now)
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["position", "pk"]

    def __str__(self) -> str:
        return self.heading or self.page
