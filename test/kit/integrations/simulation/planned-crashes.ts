import { armFailpoints, type Failpoint } from '#entities/kit/base/failpoint.ts';
import type { Random } from '../../random.ts';
import { recordTried } from '../../tried.ts';

/** Boundaries of work, by its sort. */
const boundaries = {
  loop: [
    'integration-page-read',
    'integration-page-taken',
    'integration-records-removed',
    'integration-credential-renewed',
    'before-commit',
  ],
  message: ['integration-operation-performed', 'before-commit'],
} as const satisfies Readonly<Record<string, readonly Failpoint[]>>;

/** Crashes of work at its boundaries. Everything that the work has committed stays, and everything that it remembers is lost. */
export class PlannedCrashes {
  /** Boundaries at which nothing has crashed yet. */
  readonly left = new Set<Failpoint>(Object.values(boundaries).flat());
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** @returns the result, or `crashed` */
  async during<T>(sort: keyof typeof boundaries, work: () => Promise<T>): Promise<T | 'crashed'> {
    const first = boundaries[sort].find((one) => this.left.has(one));
    const name = first ?? this.#random.pick<Failpoint>(boundaries[sort]);
    if (first !== undefined || this.#random.chance(0.3))
      armFailpoints([{ name, action: 'throw', after: first === undefined ? this.#random.below(3) : 0 }]);
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('failpoint ')) throw error;
      this.left.delete(name);
      recordTried(`crashes at ${name}`, 1);
      return 'crashed';
    } finally {
      armFailpoints([]);
    }
  }
}
