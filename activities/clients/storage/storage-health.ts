import type { ObjectStorage } from './object-storage.ts';
import type { Bucket } from './providers/open-provider.ts';

/** How long a result is reported before the bucket is tried again, in milliseconds. A probe writes to the bucket. */
const freshMs = { ok: 60_000, failed: 5_000 } as const;

interface Outcome {
  readonly result: Promise<void>;
  freshUntil: number;
}

/** Whether the buckets that the configuration uses can be written and read. */
export class StorageHealth {
  readonly #storage: Pick<ObjectStorage, 'enabledBuckets' | 'copyTarget' | 'providerOfCopy'>;
  readonly #outcomes = new Map<string, Outcome>();

  constructor(storage: Pick<ObjectStorage, 'enabledBuckets' | 'copyTarget' | 'providerOfCopy'>) {
    this.#storage = storage;
  }

  /** Checks by name; each resolves when its bucket could be used at most a minute ago. */
  checks(): Readonly<Record<string, () => Promise<void>>> {
    const used = this.#storage.enabledBuckets.flatMap((bucket) => {
      const name = `object_storage_${bucket.provider}`;
      const target = this.#storage.copyTarget(bucket);
      return [[name, bucket] as const, ...(target ? [[`${name}_backup`, target] as const] : [])];
    });
    return Object.fromEntries(used.map(([name, bucket]) => [name, () => this.#check(bucket)]));
  }

  #check(bucket: Bucket): Promise<void> {
    const provider = this.#storage.providerOfCopy(bucket);
    const key = JSON.stringify([bucket.provider, bucket.bucket, bucket.region]);
    const known = this.#outcomes.get(key);
    if (known && performance.now() < known.freshUntil) return known.result;
    const outcome: Outcome = { result: provider.probe(), freshUntil: Infinity };
    this.#outcomes.set(key, outcome);
    outcome.result.then(
      () => (outcome.freshUntil = performance.now() + freshMs.ok),
      () => (outcome.freshUntil = performance.now() + freshMs.failed),
    );
    return outcome.result;
  }
}
