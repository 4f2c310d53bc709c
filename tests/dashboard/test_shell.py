"""What all pages share: the bar, the filters, signing in, and the answers to those who may not."""

import pytest


@pytest.mark.django_db
def test_the_list_of_projects_answers_somebody_who_is_not_signed_in(client):
    answer = client.get("/")
    assert answer.status_code == 200
    assert "No public project" in answer.content.decode()
