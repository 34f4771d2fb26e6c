import type { Server } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { StorageHealth } from '#activities/clients/storage/storage-health.ts';
import { EmailValidator, type EmailNetwork } from '#activities/clients/email-validation/email-validator.ts';
import type { SecretManagerEndpoint } from '#activities/clients/secret-manager/secret-versions.ts';
import { serverUrl } from '#runtime/server-url.ts';
import type { ConfigStore } from '#config/live/config-store.ts';
import { systemClock, type Clock } from '#entities/kit/base/clock.ts';
import { UploadRows } from '#entities/kit/objects/upload-rows.ts';
import type { CoreRuntime } from '#runtime/core-runtime.ts';
import { LifecycleOperations } from '#runtime/lifecycle-operations.ts';
import { WorkRepairs } from '#runtime/work-repairs.ts';
import { EventRepairs } from '#runtime/event-repairs.ts';
import { listEventRuns, listRequestRuns, runUrlOf } from '#runtime/event-runs.ts';
import { createApp } from './app.ts';
import { AccessTokens, accessTokenSettings } from './auth/access-token.ts';
import { ChallengeTokens } from './auth/challenge-token.ts';
import { ApiTokens } from './auth/api-tokens.ts';
import { DownloadLinks } from './auth/download-link.ts';
import { PortalLinks } from './auth/portal-link.ts';
import { SignedLinks } from './auth/signed-links.ts';
import { DelegationTokens } from './auth/delegation-token.ts';
import { RefreshTokens, refreshTokenSettings } from './auth/refresh-token.ts';
import { SessionCookies } from './auth/session-cookie.ts';
import { SignInProviders } from './auth/sign-in-providers.ts';
import { SignInStates } from './auth/sign-in-state.ts';
import { openCertificate, type CertificateOptions } from './open-certificate.ts';
import { opened, openListener } from './open-port.ts';
import { openTokens } from './open-tokens.ts';
import { paymentWarnings } from './payment-warnings.ts';
import { Health } from './http/readiness.ts';
import type { Metrics } from './http/http-metrics.ts';
import { FirstPerson } from './rest/identity/account/first-person.ts';
import type { Route } from './http/route.ts';
import type { Services } from './http/services.ts';
import type { CertificateSource } from './http/tls/certificate-source.ts';
import { applyTimeouts } from './http/limits/timeouts.ts';
import { OpenStreams } from './http/open-streams.ts';
import { InFlightRequests } from './http/limits/in-flight-requests.ts';
import { TokenUses } from './http/token-uses.ts';

interface ApiOptions {
  readonly config: ConfigStore;
  readonly runtime: CoreRuntime;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock?: Clock;
  /** Folder for generated signing keys. */
  readonly stateFolder: string;
  /** Where checks of e-mail addresses find name servers, mail servers and lists; those of the Internet unless a test brings its own. */
  readonly emailNetwork?: Partial<EmailNetwork>;
  /** The secret manager of `server.secretmanager`; that of the cloud unless a test brings its own. */
  readonly secretManager?: SecretManagerEndpoint | undefined;
  /** Maximum duration of a request to a sign-in provider, in milliseconds; shorter in tests of slow ones. */
  readonly providerTimeoutMs?: number | undefined;
  /** Where people see workflows; without it, traces have no links there. */
  readonly temporalUi?: string | undefined;
  /** The authority of `server.tls.autocert`. */
  readonly certificates?: CertificateOptions | undefined;
  /** Routes besides those of the product, for tests. */
  readonly routes?: readonly Route[];
}

export interface Api {
  readonly app: FastifyInstance;
  readonly services: Services;
  /** Undefined while `server.tls.enabled` is off. */
  readonly certificate: CertificateSource | undefined;
}

/** Creates the HTTP application of one process; it does not listen yet. */
export async function createApi({
  config,
  runtime,
  logger,
  metrics,
  clock = systemClock,
  stateFolder,
  emailNetwork = {},
  secretManager,
  providerTimeoutMs,
  temporalUi,
  certificates,
  routes = [],
}: ApiOptions): Promise<Api> {
  const { database, temporal, store } = runtime;
  const { tokens, close: closeKeys } = await openTokens({ config, clock, logger, stateFolder, secretManager });
  const emails = new EmailValidator({
    config: () => config.current,
    clock,
    logger,
    network: emailNetwork,
    onOutcome: (outcome) => metrics.emailValidations.inc({ outcome }),
  });
  const apiTokens = new ApiTokens(() => config.current.auth.token.apitokens);
  const storageHealth = new StorageHealth(runtime.storage);
  const certificate = await openCertificate({ config, database, clock, logger }, certificates);
  const signedLinks = new SignedLinks(() => config.current.sessions, clock);
  const services: Services = {
    config,
    database,
    clock,
    logger,
    metrics,
    tokens,
    accessTokens: new AccessTokens(tokens, () => accessTokenSettings(config.current), clock),
    apiTokens,
    tokenUses: new TokenUses({ database, clock, logger }),
    refreshTokens: new RefreshTokens(tokens, () => refreshTokenSettings(config.current), clock),
    challengeTokens: new ChallengeTokens(tokens, () => config.current, clock),
    delegationTokens: new DelegationTokens(tokens, () => config.current, clock),
    downloadLinks: new DownloadLinks(signedLinks, apiTokens, clock),
    signedLinks,
    portalLinks: new PortalLinks(signedLinks, clock),
    sessionCookies: new SessionCookies(() => config.current.sessions, clock),
    defaultCaller: config.current.auth.enabled ? undefined : new FirstPerson(database),
    signInProviders: new SignInProviders(clock, providerTimeoutMs),
    signInStates: new SignInStates(() => config.current.sessions, clock),
    inFlight: new InFlightRequests(),
    openStreams: new OpenStreams(),
    usedCodes: runtime.usedCodes,
    rateCounters: runtime.rateCounters,
    storage: runtime.storage,
    fileReceiver: runtime.fileReceiver,
    uploadRows: new UploadRows(database),
    changeFeed: runtime.changeFeed,
    wakeRelays: () => runtime.wakeRelays(),
    runsOfEvent: (event) => listEventRuns(temporal, event),
    runsOfRequest: (request) => listRequestRuns(temporal, request),
    runUrl: (run) => runUrlOf(temporalUi, temporal.settings.namespace, run),
    eventRepairs: new EventRepairs(runtime),
    workRepairs: new WorkRepairs(runtime),
    lifecycle: new LifecycleOperations(runtime),
    emailProblem: (email) => emails.problemOf(email),
    expressions: runtime.expressions,
    definitionMeans: runtime.definitionMeans,
    payment: runtime.payment,
    integrations: runtime.integrations,
    textRecords: runtime.textRecords,
    contextOfCallers: runtime.contextOfCallers,
    health: new Health(
      {
        db_primary: (deadline) => database.ping(deadline),
        ...database.options.hook?.checks,
        job_queue: () => temporal.check(),
        ...(store ? { fga: () => store.ping() } : {}),
      },
      () => ({
        ...(config.current.objectstorage.enabled ? storageHealth.checks() : {}),
        ...(runtime.pingCache ? { cache: runtime.pingCache } : {}),
        ...(certificate ? { tls_certificate: async () => certificate.state } : {}),
      }),
    ),
  };
  if (services.defaultCaller)
    logger.warn(
      'AUTHENTICATION IS OFF (auth.enabled): everybody who reaches this server acts as the user who signed up first. Never do this in production.',
    );
  for (const line of paymentWarnings(config.current)) logger.warn(line);
  metrics.watchRateCounters(runtime.rateCounters);
  metrics.watchRequests(() => services.inFlight.count);
  metrics.watchCertificate(() => certificate?.state);
  const app = await createApp(services, routes, certificate);
  if (certificate) app.addHook('onClose', () => certificate.stop());
  config.subscribe('server', ({ server }) => applyTimeouts(app, server));
  app.addHook('onClose', closeKeys);
  return { app, services, certificate };
}

export interface Listening {
  readonly url: string;
  /** Empty if `server.metricsport` is empty. */
  readonly metricsUrl: string;
  /**
   * Finishes requests in progress within `shutdowngraceperiod` and answers new ones with 503; then closes all connections.
   */
  close(): Promise<void>;
}

/** Opens the ports of the API and of the metrics. @throws StartError when one cannot be opened, or no certificate comes */
export async function listen({ app, services, certificate }: Api): Promise<Listening> {
  const { server } = services.config.current;
  const url = await openListener(app, server.listen);
  let metrics: Server | undefined;
  try {
    if (server.metricsport !== '')
      metrics = await opened('server.metricsport', server.metricsport, (host, port) =>
        services.metrics.listen(host, port),
      );
    await certificate?.obtained();
  } catch (error) {
    metrics?.close();
    await app.close();
    throw error;
  }
  return {
    // Fastify does not know what the server of its factory speaks.
    url: server.tls.enabled ? url.replace(/^http:/, 'https:') : url,
    metricsUrl: metrics ? `${serverUrl(metrics)}/metrics` : '',
    close: async () => {
      services.health.stop();
      services.openStreams.stop();
      await services.inFlight.quiet(services.config.current.server.shutdowngraceperiod);
      app.server.closeAllConnections();
      await app.close();
      metrics?.close();
      metrics?.closeAllConnections();
    },
  };
}
