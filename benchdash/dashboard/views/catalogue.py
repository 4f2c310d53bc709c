"""What a project knows: versions, hardware, configurations and workloads."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
