import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ObjectStorage } from '#activities/clients/storage/object-storage.ts';
import { StorageError } from '#activities/clients/storage/provider.ts';
import type { Config } from '#config/objects/root.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { countObjects } from '#entities/kit/objects/count-objects.ts';
import { providerNames } from '#entities/kit/objects/stored-object.ts';
import { withTimeout } from '#entities/kit/base/concurrency/with-timeout.ts';
import type { CoreRuntime } from './core-runtime.ts';
import { StartError } from './start-error.ts';

/** Pause between two attempts, in milliseconds. */
const pauseMs = 250;

/**
 * Waits until the providers with `ensureavailable` can be written and read, for at most `server.shutdowngraceperiod`. The folder of
 * `devmode` is made and tried as well.
 * @throws StartError
 */
export async function ensureStorage(
  { objectstorage, server }: Config,
  storage: Pick<ObjectStorage, 'enabledBuckets' | 'providerOfCopy'>,
): Promise<void> {
  const { enabled, devmode, providers } = objectstorage;
  if (!enabled) return;
  const wanted = storage.enabledBuckets.filter(({ provider }) => devmode || providers[provider].ensureavailable);
  const deadline = performance.now() + server.shutdowngraceperiod;
  await Promise.all(
    wanted.map(async (bucket) => {
      const provider = storage.providerOfCopy(bucket);
      for (;;) {
        const problem = await withTimeout(
          provider.probe().then(() => undefined, problemOf),
          deadline - performance.now(),
          () => 'no answer',
        );
        if (problem === undefined) return;
        if (performance.now() + pauseMs > deadline) {
          const leaf = devmode ? 'objectstorage.devmode' : `objectstorage.providers.${bucket.provider}.ensureavailable`;
          throw new StartError(
            `${leaf} is on, but ${bucket.provider} cannot be used (${problem}). Check its bucket (${bucket.bucket || 'none'}), endpoint and credentials, or turn the setting off to start without it.`,
          );
        }
        await pause(pauseMs);
      }
    }),
  );
}

/** Warns of objects that no request can read, because their provider is disabled. */
export async function warnOfUnreadableObjects(
  { database, storage }: Pick<CoreRuntime, 'database' | 'storage'>,
  logger: Logger,
): Promise<void> {
  const context = { caller: systemCaller('count objects'), requestId: `start-${newId()}`, readOnly: true };
  const disabled = providerNames.filter((name) => !storage.isEnabled(name));
  for (const { provider, objects } of await database.transact(context, (unit) => countObjects(unit, disabled)))
    logger.warn({ provider, objects }, 'files cannot be read: their provider of object storage is disabled');
}

function problemOf(error: unknown): string {
  if (error instanceof StorageError) return error.message;
  throw error;
}
