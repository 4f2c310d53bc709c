"""The list of incidents, and one with its evidence."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
