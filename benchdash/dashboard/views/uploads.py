"""Files as received: the list, the form, one upload and its raw file."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
