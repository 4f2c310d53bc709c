from celery import shared_task
from django.conf import settings
from django.utils import timezone

from benchdash.accounts.models import Project
from benchdash.celery import taken_up
from benchdash.regressions import null_runs, services
from benchdash.results.models import Product


@shared_task
def analyse_touched() -> int:
    """The answer stands in the worker's log: how many touched series were dealt with."""
    taken_up(analyse_touched.name, every=settings.ANALYSIS_EVERY_S)
    return services.analyse_touched()


@shared_task
def recompute_all() -> None:
    """One job a product: several workers share them, and one that dies loses little."""
    for product_id in Product.objects.order_by("pk").values_list("pk", flat=True):
        recompute_product.delay(product_id)


@shared_task
def recompute_product(product_id: int) -> None:
    for _ in services.recompute(product_id=product_id):
        pass


@shared_task
def null_runs_due() -> None:
    for project_id in null_runs.projects_due(timezone.now()).values_list("pk", flat=True):
        null_run.delay(project_id)


@shared_task
def null_run(project_id: int) -> None:
    null_runs.null_run(Project.objects.get(pk=project_id))
