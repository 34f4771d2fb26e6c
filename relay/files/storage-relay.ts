import type { Logger } from 'pino';
import type { TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { RepeatedWork } from '#entities/kit/base/concurrency/repeated-work.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { claimDueChecks, claimDueCopies } from '#entities/kit/objects/due-work.ts';
import type { ProviderName } from '#entities/kit/objects/stored-object.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { checkUploadContract } from '#workflows/files/check-upload.contract.ts';
import { backupFileContract } from '#workflows/files/backup-file.contract.ts';

export interface StorageRelayOptions {
  readonly database: Database;
  /** Over the connection of the workers, so that they begin at once what is started. */
  readonly temporal: TemporalGateway;
  readonly logger: Logger;
  /** `workflows.dispatch.enabled`. While it is off, rows stay due. */
  readonly isEnabled: () => boolean;
  /** Providers whose objects are copied, read before every claim. */
  readonly backedUp: () => readonly ProviderName[];
}

/** Most rows of one claim. */
const maxClaimed = 50;

/**
 * Starts the workflows of rows that are due. A row that was claimed is due again after some minutes unless its work is done, and its workflow has a
 * fixed id, so starting it again is safe and a crash loses nothing.
 */
export class StorageRelay {
  readonly #options: StorageRelayOptions;
  readonly #work: RepeatedWork;

  constructor(options: StorageRelayOptions) {
    this.#options = options;
    this.#work = new RepeatedWork({
      round: async () => [await this.#startChecks(), await this.#startCopies()].includes(true),
      isEnabled: options.isEnabled,
      onError: (error) =>
        options.logger.error({ err: error }, 'the relay of storage failed; the next poll tries again'),
    });
  }

  /** To be called when rows may be due. */
  wake(): void {
    this.#work.wake();
  }

  /** Claims nothing more and waits for starts under way. */
  stop(): Promise<void> {
    return this.#work.stop();
  }

  /** @returns whether more may be due */
  async #startChecks(): Promise<boolean> {
    const due = await this.#inDatabase((unit) => claimDueChecks(unit, maxClaimed));
    await Promise.all(
      due.map((uploadId) =>
        this.#options.temporal.start(checkUploadContract, { uploadId }, { repeat: 'again', search: {} }),
      ),
    );
    return due.length === maxClaimed;
  }

  /** @returns whether more may be due */
  async #startCopies(): Promise<boolean> {
    const { temporal, backedUp } = this.#options;
    const providers = backedUp();
    if (providers.length === 0) return false;
    const due = await this.#inDatabase((unit) => claimDueCopies(unit, providers, maxClaimed));
    await Promise.all(
      due.map((objectId) =>
        // The rows say what is done, so the work of an object may run again under its id.
        temporal.start(backupFileContract, { objectId }, { repeat: 'again', search: {} }),
      ),
    );
    return due.length === maxClaimed;
  }

  #inDatabase<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    return this.#options.database.transact(
      { caller: systemCaller('storage relay'), requestId: `storage-${newId()}` },
      work,
    );
  }
}
