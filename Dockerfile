# The environment of ./reproduce.sh, with the compiler that builds the engine:
#   docker build -t pomrl . && docker run --rm -v "$PWD/outputs:/pomrl/outputs" pomrl ./reproduce.sh quick
FROM python:3.12-slim

RUN apt-get update && apt-get install --yes --no-install-recommends chromium gcc git libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /pomrl
COPY . .
RUN ./reproduce.sh environment
ENV PATH="/pomrl/.venv/bin:$PATH"
CMD ["./reproduce.sh"]
