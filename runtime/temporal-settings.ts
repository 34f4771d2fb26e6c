import { readFileSync } from 'node:fs';
import type { JobMiddleware } from '#activities/clients/temporal/job.ts';
import { parseConnectionUri, type TemporalSettings } from '#activities/clients/temporal/temporal-client.ts';
import type { Config } from '#config/objects/root.ts';
import type { TemporalEnvironment } from '#config/reading/standard-variables.ts';
import { deliveryQueue } from '#workflows/events/deliver-event.contract.ts';

/** Settings of the connection to Temporal, from the configuration and from Temporal's own environment variables. */
export function temporalSettings(
  { jobqueue, sessions, workflows }: Config,
  environment: TemporalEnvironment,
  middleware: JobMiddleware | undefined,
): TemporalSettings {
  const { queueconf } = jobqueue;
  const { initialinterval, backoffcoefficient, maximuminterval } = queueconf.RetryPolicy;
  return {
    ...parseConnectionUri(jobqueue.connectionuri),
    prefix: queueconf.Schema,
    encryptionKey: sessions.encryptionkey,
    credentials: temporalCredentials(environment),
    activityDefaults: {
      attemptTimeoutMs: queueconf.JobTimeout,
      heartbeatTimeoutMs: queueconf.JobStuckThreshold,
      retry: {
        maximumAttempts: queueconf.MaxAttempts,
        initialIntervalMs: initialinterval,
        backoffCoefficient: backoffcoefficient,
        maximumIntervalMs: maximuminterval,
      },
    },
    queueNames: { [deliveryQueue]: workflows.dispatch.queuename },
    hasRandomIds: queueconf.Test.DisableUniqueEnforcement,
    ...(middleware ? { middleware } : {}),
  };
}

function temporalCredentials({ apiKey, tlsCertFile, tlsKeyFile, tlsServerName, tlsCaFile }: TemporalEnvironment) {
  const hasTls = tlsCertFile ?? tlsServerName ?? tlsCaFile;
  if (!apiKey && !hasTls) return {};
  return {
    ...(apiKey ? { apiKey } : {}),
    tls: {
      ...(tlsCertFile && tlsKeyFile
        ? { clientCertPair: { crt: readFileSync(tlsCertFile), key: readFileSync(tlsKeyFile) } }
        : {}),
      ...(tlsServerName ? { serverNameOverride: tlsServerName } : {}),
      ...(tlsCaFile ? { serverRootCACertificate: readFileSync(tlsCaFile) } : {}),
    },
  };
}
