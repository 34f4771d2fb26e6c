import type { Server } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { parseListenAddress } from '#config/form.ts';
import type { Config } from '#config/root.ts';
import type { ConfigStore } from '#config/store.ts';
import { systemClock, type Clock } from '#entities/kit/clock.ts';
import type { Backbone } from '#relay/backbone.ts';
import { createApp } from './app.ts';
import { AccessTokens } from './auth/access-token.ts';
import { loadSigningKeys } from './auth/signing-keys.ts';
import { Health } from './health.ts';
import type { Metrics } from './metrics.ts';
import type { Route } from './route.ts';
import type { Services } from './services.ts';

export interface ApiOptions {
  readonly config: ConfigStore;
  readonly backbone: Backbone;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock?: Clock;
  /** Where generated signing keys are kept. */
  readonly stateFolder: string;
  /** Routes besides those of the product; for tests of what happens around a handler. */
  readonly routes?: readonly Route[];
}

export interface Api {
  readonly app: FastifyInstance;
  readonly services: Services;
}

/** Assembles the HTTP application of one process; nothing listens yet. */
export async function createApi({
  config,
  backbone,
  logger,
  metrics,
  clock = systemClock,
  stateFolder,
  routes = [],
}: ApiOptions): Promise<Api> {
  const { token } = config.current.auth;
  const keys = await loadSigningKeys({
    kid: token.kid,
    keys: token.keys,
    generateKeys: token.generatekeys,
    stateFolder,
  });
  const { database, temporal, store } = backbone;
  const services: Services = {
    config,
    database,
    clock,
    logger,
    metrics,
    accessTokens: new AccessTokens(
      keys,
      () => {
        const { issuer, audience, accessduration } = config.current.auth.token;
        return { issuer, audience, accessDurationMs: accessduration };
      },
      clock,
    ),
    health: new Health({
      db_primary: () => database.pool.query('select 1'),
      job_queue: () => temporal.check(),
      ...(store ? { fga: () => store.prepare() } : {}),
    }),
  };
  const app = await createApp(services, routes);
  config.subscribe('server', ({ server }) => applyTimeouts(app, server));
  return { app, services };
}

/** Timeouts of the HTTP server take effect without a restart. */
function applyTimeouts({ server: http }: FastifyInstance, server: Config['server']): void {
  http.requestTimeout = server.readtimeout;
  http.headersTimeout = server.readheadertimeout;
  http.keepAliveTimeout = server.idletimeout;
}

export interface Listening {
  readonly url: string;
  readonly metricsUrl: string;
  /** Answers what is under way within `shutdowngraceperiod`, takes nothing new, then ends. */
  close(): Promise<void>;
}

/** Opens the API's port and the one of the metrics. @throws when a port is taken */
export async function listen({ app, services }: Api): Promise<Listening> {
  const { server } = services.config.current;
  const address = addressOf(server.listen);
  const url = await app.listen({ host: address.host, port: address.port });
  const metricsAddress = addressOf(server.metricsport);
  let metrics: Server;
  try {
    metrics = await services.metrics.listen(metricsAddress.host, metricsAddress.port);
  } catch (error) {
    await app.close();
    throw error;
  }
  return {
    url,
    metricsUrl: `http://${metricsAddress.host}:${metricsAddress.port}/metrics`,
    close: async () => {
      services.health.stop();
      metrics.close();
      const grace = services.config.current.server.shutdowngraceperiod;
      const hurry = setTimeout(() => app.server.closeAllConnections(), grace);
      await app.close();
      clearTimeout(hurry);
    },
  };
}

function addressOf(text: string): { host: string; port: number } {
  const address = parseListenAddress(text);
  if (!address) throw new Error(`"${text}" is not an address to listen on`);
  return { host: address.host || '0.0.0.0', port: address.port };
}
