import pytest
from django.core.cache import cache
from django.core.mail import send_mail
from django.db import connection

from tests.statements import TooManyParametersError


def test_a_mail_reaches_the_smtp_server(smtp):
    send_mail("Slower", "by 8 %", "from@example.org", ["to@example.org"])
    [mail] = smtp.wait_for(1)
    assert (mail.subject, mail.recipients, mail.text.strip()) == ("Slower", ["to@example.org"], "by 8 %")


@pytest.mark.django_db
def test_the_cache_is_a_redis_of_this_process():
    cache.set("a", 1)
    assert cache.get("a") == 1


@pytest.mark.django_db(transaction=True)
def test_a_real_worker_works_on_the_queue(worker):
    from benchdash.celery import app

    app.send_task("benchdash.regressions.tasks.analyse_touched")
    worker.wait_until_idle()
    assert "analyse_touched" in worker.log


def test_a_browser_opens_a_page_with_its_styles(chromium_page, sign_in, django_user_model):
    sign_in(django_user_model.objects.create_superuser("ada@example.org", "engine-of-1843"))
    chromium_page.goto("/admin/")
    assert chromium_page.title().startswith("Site administration")
    assert chromium_page.evaluate("document.styleSheets.length") > 0


@pytest.mark.django_db
def test_a_statement_with_a_parameter_for_each_of_many_rows_is_refused():
    numbers = list(range(2_000))
    with connection.cursor() as cursor, pytest.raises(TooManyParametersError, match="2000 parameters"):
        cursor.execute(f"SELECT 1 WHERE 1 IN ({', '.join('%s' for _ in numbers)})", numbers)
