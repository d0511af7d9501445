# The explorer in a container. Build and start:
#   docker build -t imrc .
#   docker run --rm -p 127.0.0.1:8501:8501 imrc
# Two stages: the second holds what is needed to run and nothing that was needed to build.

FROM python:3.11-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/venv
WORKDIR /src
# Dependencies first: they change less often than the code, and Docker keeps this layer.
COPY requirements.txt ./
RUN /opt/venv/bin/pip install -r requirements.txt
COPY pyproject.toml README.md LICENSE NOTICE app.py ./
COPY .streamlit/config.toml .streamlit/config.toml
COPY data/datasets.toml data/datasets.toml
COPY data/results data/results
COPY data/screenshots data/screenshots
COPY CHANGELOG.md CHANGELOG.md
COPY .github/CONTRIBUTING.md .github/CONTRIBUTING.md
COPY tests/benchmarks/README.md tests/benchmarks/README.md
COPY docs docs
COPY imrc imrc
COPY pages pages
RUN /opt/venv/bin/pip install --no-deps .

FROM python:3.11-slim
RUN useradd --create-home --uid 10001 imrc \
    && mkdir -p /var/cache/imrc /data \
    && chown imrc:imrc /var/cache/imrc /data
COPY --from=build /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    NUMBA_CACHE_DIR=/var/cache/imrc/numba \
    IMRC_CACHE=/var/cache/imrc/datasets \
    IMRC_DATA=/data
USER imrc
WORKDIR /home/imrc
# Compiled while building, so that the first visitor does not wait. The compiled code is made for the kind of processor the
# image is built on; on another kind numba notices and compiles again, once.
RUN python -c "from imrc.solvers import warm_up; warm_up()"
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
# Without --address the server listens inside the container only, where nobody can reach it.
CMD ["imrc", "app", "--no-browser", "--address", "0.0.0.0", "--port", "8501"]
