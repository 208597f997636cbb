# Build:  docker build -t assay .
# Run:    docker run --rm -v "$PWD:/work" --user "$(id -u)" -e OPENAI_API_KEY assay run task.yaml --model openai/gpt-5-mini
FROM python:3.13-slim

WORKDIR /opt/assay
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY src ./src
# psycopg's binary package brings libpq along, which the slim image lacks
RUN pip install --no-cache-dir -c constraints.txt '.[parquet,postgres]' 'psycopg[binary]' \
    && useradd --uid 10001 --create-home assay

# any user of --user can write the cache
ENV XDG_CACHE_HOME=/tmp/cache PYTHONUNBUFFERED=1
USER 10001
WORKDIR /work
ENTRYPOINT ["assay"]
CMD ["--help"]
