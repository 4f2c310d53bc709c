"""Who hears, writes and decides: subscriptions, alerts, tokens, settings and the audit log."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
