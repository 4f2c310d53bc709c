"""One or several series against versions or time."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
