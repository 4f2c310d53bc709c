from django.apps import AppConfig


class RestConfig(AppConfig):
    name = "benchdash.rest"
