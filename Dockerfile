# The server in a container: slim, without root, on a read-only root file system. compose.yaml shows how to run it.
FROM python:3.12-slim AS build
COPY . /source
# step: build
RUN python -m pip wheel --no-cache-dir --wheel-dir /wheels '/source[server,mcp]'

FROM python:3.12-slim
COPY --from=build /wheels /wheels
# step: install
RUN python -m pip install --no-cache-dir --no-index --find-links /wheels 'simonides[server,mcp]'
ENV SIMONIDES_CACHE=/models SIMONIDES_STORE=/memories SIMONIDES_SERVE_HOST=0.0.0.0
# step: model
RUN simonides models pull
RUN useradd --system --uid 10001 --no-create-home simonides \
    && mkdir /memories \
    && chown 10001:10001 /memories
USER 10001:10001
ENV SIMONIDES_OFFLINE=1
VOLUME /memories
EXPOSE 8765
# step: health
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD \
    python -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/health/live', timeout=4)"
# step: serve
CMD ["simonides", "serve"]
