"""The address of assistants."""

from django.urls import re_path

from benchdash.assistants.views import AssistantsView

app_name = "assistants"

# A client that forgot the slash cannot be redirected: its request has a body.
urlpatterns = [re_path(r"^mcp/?$", AssistantsView.as_view(), name="mcp")]
