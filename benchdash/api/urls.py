"""The read API, under ``/api/v1/``."""

from django.urls import URLPattern

app_name = "api"

urlpatterns: list[URLPattern] = []
