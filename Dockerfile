# The proxy in a container: docs/install.md#container.
#
#   docker build --tag callwright .
#   docker build --build-arg EXTRAS=proxy,mcp,openapi --tag callwright .     # with more of Callwright

ARG PYTHON=3.13-slim-trixie

FROM python:${PYTHON} AS build
ARG EXTRAS=proxy
ARG PREFIX=/opt/callwright
ARG STATE=/var/lib/callwright
WORKDIR /src
COPY constraints.txt ./
COPY packages/callwright packages/callwright
# The proxy alone never loads numpy, a third of all that is installed.
RUN mkdir -p "$STATE" \
    && python -m venv --without-pip "$PREFIX" \
    && python -m pip --python "$PREFIX/bin/python" install --no-cache-dir --constraint constraints.txt "./packages/callwright[$EXTRAS]" \
    && if [ "$EXTRAS" = proxy ]; then python -m pip --python "$PREFIX/bin/python" uninstall --yes numpy; fi

FROM python:${PYTHON}
ARG EXTRAS=proxy
ARG PREFIX=/opt/callwright
ARG STATE=/var/lib/callwright
LABEL org.opencontainers.image.title="callwright" \
      org.opencontainers.image.description="A proxy that repairs the tool calls of language models" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build ${PREFIX} ${PREFIX}
COPY --from=build --chown=10001:10001 ${STATE} ${STATE}
ENV PATH="${PREFIX}/bin:${PATH}" \
    XDG_STATE_HOME="${STATE}" \
    CALLWRIGHT_IMAGE_EXTRAS="${EXTRAS}" \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
WORKDIR ${STATE}
USER 10001:10001
EXPOSE 8787
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s --retries=3 \
    CMD ["python", "-c", "from http.client import HTTPConnection as C; c = C('127.0.0.1', 8787, timeout=2); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]
# CALLWRIGHT_PROXY_KEY has to be set: the proxy listens for other hosts than its own.
ENTRYPOINT ["callwright", "proxy", "--host", "0.0.0.0"]
CMD ["--upstream", "http://host.docker.internal:11434/v1"]
