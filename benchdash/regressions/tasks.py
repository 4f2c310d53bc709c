from celery import shared_task
from django.conf import settings

from benchdash.accounts.models import Project
from benchdash.celery import one_at_a_time, taken_up
from benchdash.regressions import services
from benchdash.regressions.analysis import silences
from benchdash.regressions.snoozes import wake_snoozed
from benchdash.results.models import Product


@shared_task
def analyse_touched() -> int:
    """Look at what is due; how many touched series were dealt with stands in the worker's log."""
    taken_up(analyse_touched.name, every=settings.ANALYSIS_EVERY_S)
    return services.analyse_touched()


@shared_task
@one_at_a_time
def analyse_waiting() -> None:
    """Look at what a lost doorbell or a worker that died left behind, and at what was put off until now."""
    services.analyse_touched()
    wake_snoozed()


@shared_task
@one_at_a_time
def recompute_all() -> None:
    """Send one job a product: several workers share them, and one that dies loses little."""
    products = Product.objects.filter(project__deleting_since=None).order_by("pk")
    for product_id in products.values_list("pk", flat=True):
        recompute_product.apply_async((product_id,), expires=settings.NIGHT_JOBS_EXPIRE_S)


@shared_task
def recompute_product(product_id: int) -> None:
    for _ in services.recompute(product_id=product_id):
        # Results that came in meanwhile do not wait for the work of the night.
        services.analyse_touched()


@shared_task
@one_at_a_time
def silences_due() -> None:
    projects = Project.objects.filter(deleting_since=None, is_sample=False)
    for project_id in projects.values_list("pk", flat=True):
        update_silences.apply_async((project_id,), expires=settings.SILENCES_EVERY_S)


@shared_task
def update_silences(project_id: int) -> None:
    silences.update_silences(Project.objects.get(pk=project_id))
