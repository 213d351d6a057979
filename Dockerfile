# Two stages: the first compiles, the second holds the program, the libraries that it is linked
# against, and CA certificates. There is no shell and nothing else that could be run.
#
#   docker build --tag meitner .
#   docker build --tag meitner --platform linux/arm64 .
FROM rust:1.95-slim-bookworm AS build
WORKDIR /build
COPY . .
RUN cargo build --release --locked --bin meitner
RUN install -D --strip target/release/meitner /image/usr/local/bin/meitner \
    && ldd target/release/meitner | grep --only-matching '/[^ ]*' \
       | xargs cp --dereference --parents --target-directory=/image \
    && install -D --mode=644 --target-directory=/image/etc/ssl/certs /etc/ssl/certs/ca-certificates.crt \
    && install --directory --owner=65532 --group=65532 /image/var/lib/meitner/state

FROM scratch
COPY --from=build /image /
# What is remembered across restarts; everything else may be read-only.
ENV STATE_DIRECTORY=/var/lib/meitner/state
# Figures and health, for this container alone.
ENV MEITNER_METRICS__LISTEN=127.0.0.1:9464
# The working directory's `config/meitner.toml` is read, if one is mounted there.
WORKDIR /var/lib/meitner
USER 65532:65532
# The first SIGTERM lets running games finish. Give the container time for that.
STOPSIGNAL SIGTERM
# Whether the bot lives; neither a server that is down nor a mistake in a mounted file makes it
# unhealthy. The address is that of the variable above, which wins over a file.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["/usr/local/bin/meitner", "health", "--address", "127.0.0.1:9464"]
ENTRYPOINT ["/usr/local/bin/meitner"]
CMD ["run"]
