# Packages are built and checked against their hashes in one image, and run in another without pip's leftovers.
FROM python:3.13-slim-bookworm AS build
WORKDIR /srv/assent
RUN python -m venv /opt/venv
COPY requirements.txt .
RUN /opt/venv/bin/pip install --no-cache-dir --require-hashes -r requirements.txt

FROM python:3.13-slim-bookworm
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    ASSENT_DATA_DIR=/var/lib/assent
RUN useradd --system --uid 10001 --home-dir /srv/assent assent \
    && install -d -m 0700 -o assent -g assent /var/lib/assent
COPY --from=build /opt/venv /opt/venv
WORKDIR /srv/assent
COPY . .
# Whoever runs it can write no bytecode.
RUN python -m compileall -q .
# Static files belong to the image; the data folder is a volume.
RUN ASSENT_STATIC_DIR=/srv/assent/collected ASSENT_DATA_DIR=/tmp/build python manage.py collectstatic --noinput \
    && rm -rf /tmp/build
ENV ASSENT_STATIC_DIR=/srv/assent/collected
# By number: who it is can be told without the image (hadolint DL3066).
USER 10001
VOLUME /var/lib/assent
EXPOSE 8000
CMD ["gunicorn", "config.wsgi", "--config=config/gunicorn.py", "--bind=0.0.0.0:8000", "--workers=2", \
     "--no-control-socket", "--worker-tmp-dir=/dev/shm", "--access-logfile=-"]
