"""Find a thing of a project by a part of its name."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
