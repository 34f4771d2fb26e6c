import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { ObjectStorage } from '#activities/clients/storage/object-storage.ts';
import type { StorageMetrics } from '#activities/clients/storage/storage-metrics.ts';
import type { ConfigStore } from '#config/live/config-store.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import { readInstallation } from '#entities/kit/storage/read-installation.ts';

/** The object storage of the configuration, which is read at every use. @param stateFolder has the files while `devmode` is on */
export function configuredStorage(
  config: ConfigStore,
  database: Database,
  stateFolder: string,
  { metrics, logger }: { readonly metrics: StorageMetrics; readonly logger: Logger },
): ObjectStorage {
  return new ObjectStorage({
    settings: () => config.current.objectstorage,
    installation: async () => (await readInstallation(config.current.db.primarydbsource)).id,
    database,
    clock: database.options.clock,
    devFolder: resolve(join(stateFolder, 'files')),
    downloadUrl: () => `${config.current.auth.token.issuer.replace(/\/+$/, '')}/v1/files`,
    onNoCredentials: (error) =>
      logger.warn({ err: error }, 'the provider cloudstore signs no links: it found no credentials'),
    onReadWithoutCopy: () => metrics.readsWithoutCopy.inc(),
  });
}
