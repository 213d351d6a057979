# Two stages: the first compiles, the second holds the program and CA certificates only.
FROM rust:1.95-slim-bookworm AS build
WORKDIR /build
COPY . .
RUN cargo build --release --locked --bin meitner

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --create-home --home-dir /var/lib/meitner --shell /usr/sbin/nologin meitner \
    && install --directory --owner meitner --group meitner /var/lib/meitner/state
COPY --from=build /build/target/release/meitner /usr/local/bin/meitner
# The working directory's `config/meitner.toml` is read, if one is mounted there.
WORKDIR /var/lib/meitner
USER meitner
# The first SIGTERM lets running games finish. Give the container time for that.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/meitner"]
CMD ["run"]
