import pytest
from django.core.exceptions import ImproperlyConfigured

from benchdash.storage_url import storage_of


def test_a_folder_is_named_by_its_absolute_path():
    assert storage_of("file:///srv/our%20files") == {
        "BACKEND": "ingest.storage.folder.FolderStorage",
        "OPTIONS": {"location": "/srv/our files"},
    }


def test_a_bucket_may_have_a_prefix_a_region_an_endpoint_and_a_key():
    url = "s3://key:se%2Fcret@results/bench/raw?region=eu-central-1&endpoint=http://127.0.0.1:9000"
    assert storage_of(url) == {
        "BACKEND": "ingest.storage.s3.S3FileStorage",
        "OPTIONS": {
            "bucket_name": "results",
            "location": "bench/raw",
            "region_name": "eu-central-1",
            "endpoint_url": "http://127.0.0.1:9000",
            "access_key": "key",
            "secret_key": "se/cret",
        },
    }


def test_without_a_key_the_usual_variables_of_the_environment_count():
    options = storage_of("s3://results")["OPTIONS"]
    assert options == {"bucket_name": "results", "location": "", "region_name": None, "endpoint_url": None}


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/srv/files",
        "file://srv/files",
        "file:///",
        "file:files",
        "gs://results",
        "s3:///prefix",
        "s3://key@results",
        "s3://results?bucket=other",
    ],
)
def test_what_names_neither_a_folder_nor_a_bucket_is_refused(url):
    with pytest.raises(ImproperlyConfigured, match="STORAGE_URL"):
        storage_of(url)


def test_a_refusal_repeats_no_secret():
    with pytest.raises(ImproperlyConfigured) as refused:
        storage_of("s3://AKIAEXAMPLE:hush@results?zone=1")
    assert "hush" not in str(refused.value)
