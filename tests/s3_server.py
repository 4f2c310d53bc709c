"""A real S3 server on loopback, in a process of its own: moto's."""

import os
import socket
import subprocess
import sys
from urllib.request import urlopen

from tests.waiting import wait_until


class S3Server:
    """``url(prefix)`` is a STORAGE_URL in its only bucket."""

    bucket = "results"

    def start(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.endpoint = f"http://127.0.0.1:{port}"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "MOTO_S3_CUSTOM_ENDPOINTS": self.endpoint},
        )
        try:
            wait_until(self._answers, within=180)
            self._client().create_bucket(Bucket=self.bucket)
        except BaseException:
            self.stop()
            raise

    def stop(self):
        self._process.kill()
        self._process.wait()

    def url(self, prefix):
        return f"s3://testing:testing@{self.bucket}/{prefix}?region=us-east-1&endpoint={self.endpoint}"

    def names(self, prefix):
        """The names of all objects below the prefix."""
        found = self._client().list_objects_v2(Bucket=self.bucket, Prefix=f"{prefix}/")
        return [one["Key"] for one in found.get("Contents", ())]

    def _answers(self):
        assert self._process.poll() is None, "the S3 server ended"
        try:
            with urlopen(f"{self.endpoint}/moto-api/", timeout=1):
                return True
        except OSError:
            return False

    def _client(self):
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )
