"""The list of runs, and everything about one."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
