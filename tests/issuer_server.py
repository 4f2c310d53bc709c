"""A CI of our own: it signs tokens of jobs with real keys, and serves its public ones as JWKS."""

import json
import threading
import time
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

AUDIENCE = "https://bench.example.org"
SECRET_OF_JOB = "a secret of the job"


@cache
def rsa_key(number=0):
    """A key for each number: to make one takes long."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@cache
def ec_key():
    return ec.generate_private_key(ec.SECP256R1())


class IssuerServer:
    """``keys`` are the private keys by their ids, ``requests`` the paths that it was asked for.

    While it ``is_down`` it answers 500.
    """

    def __init__(self):
        self.keys = {"rsa": rsa_key(), "ec": ec_key()}
        self.requests = []
        self.is_down = False
        self.answer = None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.requests.append(self.path)
                body = outer.answer or json.dumps(outer.told(self.path, self.headers)).encode()
                self.send_response(500 if outer.is_down else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def stop(self):
        self._server.shutdown()
        self._server.server_close()

    def settings(self, claims="github"):
        return json.dumps({self.url: {"jwks": f"{self.url}/jwks", "claims": claims}})

    def told(self, path, headers):
        """Give the JWKS or, to a job that knows its secret, a token for the audience that it names."""
        if not path.startswith("/token?"):
            return self.jwks()
        is_job = headers["Authorization"] == f"Bearer {SECRET_OF_JOB}"
        return {"value": self.token(aud=parse_qs(urlsplit(path).query)["audience"][0])} if is_job else {}

    def jwks(self):
        return {"keys": [_public(key, kid) for kid, key in self.keys.items()]}

    def token(self, *, kid="rsa", key=None, algorithm=None, headers=None, **claims):
        """Sign the token of a job of GitHub; a claim of None is left out."""
        return self.sign(self.github(**claims), kid=kid, key=key, algorithm=algorithm, headers=headers)

    def sign(self, claims, *, kid="rsa", key=None, algorithm=None, headers=None):
        algorithm = algorithm or ("ES256" if kid == "ec" else "RS256")
        key = self.keys[kid] if key is None else key
        return jwt.encode(claims, key, algorithm=algorithm, headers={"kid": kid, **(headers or {})})

    def github(self, **claims):
        now = int(time.time())
        usual = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "repo:org/name:ref:refs/heads/main",
            "iat": now,
            "nbf": now,
            "exp": now + 300,
            "repository": "org/name",
            "repository_id": "74",
            "ref": "refs/heads/main",
            "ref_type": "branch",
            "ref_protected": "true",
            "event_name": "push",
            "workflow_ref": "org/name/.github/workflows/bench.yml@refs/heads/main",
            "run_id": "123",
        }
        return {name: value for name, value in {**usual, **claims}.items() if value is not None}

    def gitlab(self, **claims):
        now = int(time.time())
        usual = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "project_path:group/name:ref_type:branch:ref:main",
            "iat": now,
            "nbf": now - 5,
            "exp": now + 3600,
            "project_path": "group/name",
            "project_id": "22",
            "ref": "main",
            "ref_type": "branch",
            "ref_protected": "true",
            "pipeline_source": "push",
            "ci_config_ref_uri": f"{self.url.partition('://')[2]}/group/name//.gitlab-ci.yml@refs/heads/main",
            "job_id": "77",
        }
        return {name: value for name, value in {**usual, **claims}.items() if value is not None}


def _public(key, kid):
    algorithm = jwt.algorithms.ECAlgorithm if kid == "ec" else jwt.algorithms.RSAAlgorithm
    return {**json.loads(algorithm.to_jwk(key.public_key())), "kid": kid, "use": "sig"}
