import type { Random } from '../../random.ts';
import type { FakeRequest } from '../../fakes/http-fake.ts';
import { misbehave, type Misbehaviour } from '../../fakes/integrations/misbehaviour.ts';
import { recordTried } from '../../tried.ts';

/** Part of the answers that are no usable ones. */
const badPart = 1 / 3;

/**
 * How often each misbehaviour is chosen among the bad answers. An answer that leaves records out and is valid in all else is not among them:
 * it is the answer of a directory without these records.
 */
const weights = {
  limit: 5,
  fail: 6,
  cut: 4,
  half: 4,
  page: 4,
  redirect: 3,
  silent: 1,
  huge: 0.3,
} as const satisfies Record<Misbehaviour, number>;

const lies = ['repeat', 'reorder', 'spoil', 'elsewhere'] as const;
type Lie = (typeof lies)[number];

/** Decides for each request whether it is answered well. */
export class UnreliableAnswers {
  isCalm = true;
  readonly #random: Random;
  #lie: Lie | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  /** For the hook of a fake that runs before each answer. */
  before(url: string, { path }: FakeRequest) {
    this.#lie = undefined;
    if (this.isCalm || !this.#random.chance(badPart)) return undefined;
    // Answers to sign-ins have no records that could be lies.
    if (this.#random.chance(0.3) && !/token|access/.test(path)) {
      this.#lie = this.#random.pick(lies);
      recordTried(`lies: ${this.#lie}`, 1);
      return undefined;
    }
    const misbehaviour = this.#weighted();
    recordTried(`answers: ${misbehaviour}`, 1);
    return misbehave(misbehaviour, `${url}/elsewhere`);
  }

  /** The records of a page, or what is said to be them. */
  records(records: readonly unknown[]): readonly unknown[] {
    switch (this.#lie) {
      case 'repeat':
        return [...records, ...records.slice(0, 2)];
      case 'reorder':
        return this.#random.shuffled(records);
      case 'spoil':
        return records.map((record, index) => (index === 0 ? { name: 'without an id' } : record));
      case 'elsewhere':
      case undefined:
        return records;
      default:
        this.#lie satisfies never;
        throw new TypeError('unknown lie');
    }
  }

  /** The position of the next page, or one that leads elsewhere. */
  next<T>(position: T): T | string | number {
    if (this.#lie !== 'elsewhere' || position === undefined || position === '') return position;
    return this.#random.pick(['https://elsewhere.example/v1.0/users', 7, 'x'.repeat(10_000)]);
  }

  #weighted(): Misbehaviour {
    const entries = Object.entries(weights) as [Misbehaviour, number][];
    let left = this.#random.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return 'fail';
  }
}
