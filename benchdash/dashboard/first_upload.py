"""How a project gets its first results."""

from django.conf import settings
from django.urls import reverse


def first_upload_command() -> str:
    """A curl command for this installation; the token names the project."""
    return (
        'curl --fail-with-body -H "Authorization: Bearer $BENCHDASH_TOKEN" \\\n'
        "  -F file=@sysbench.txt -F product=MariaDB -F version=11.8.3 \\\n"
        "  -F hardware=bench-01 -F workload=oltp_read_only \\\n"
        f"  {settings.SITE_URL}{reverse('ingest:upload-list')}"
    )
