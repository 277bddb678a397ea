# Glovebox as an ordinary user without any capability; its state is in /data. See docs/guide/containers.md.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts/node24 scripts/node24
RUN npm ci
COPY . .
RUN node scripts/build.ts && npm prune --omit=dev

FROM ${NODE_IMAGE}
RUN apt-get update -qq \
  && apt-get install -y -qq --no-install-recommends bubblewrap ca-certificates tini \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /app/package.json /app/glovebox.schema.json /app/LICENSE /app/
COPY --from=build /app/bin /app/bin
COPY --from=build /app/dist /app/dist
COPY --from=build /app/examples /app/examples
COPY --from=build /app/node_modules /app/node_modules
RUN install -d -o 1000 -g 1000 -m 0700 /data
ENV NODE_ENV=production HOME=/data XDG_STATE_HOME=/data/state XDG_CONFIG_HOME=/data/config XDG_CACHE_HOME=/data/cache
USER 1000:1000
WORKDIR /data
VOLUME /data
EXPOSE 4747
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4747/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The first process of a container inherits what a server leaves behind; tini ends it.
ENTRYPOINT ["/usr/bin/tini", "--", "node", "/app/bin/glovebox.js"]
CMD ["serve", "--config", "/data/glovebox.config.json"]
