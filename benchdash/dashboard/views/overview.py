"""The overview of a project: newest incidents and uploads, and the matrix."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
