import type { AppError } from '#entities/kit/base/errors.ts';
import { limitExceeded } from '#entities/kit/base/input-error.ts';

/** Selection of an operation, counted before anything is read. */
export interface Cost {
  /** Fields selected of records. */
  readonly fields: number;
  /**
   * Records that the lists can return together; the sizes of nested lists multiply. A `totalCount` costs as much as a list of the largest
   * page.
   */
  readonly records: number;
  /** Values that these records can have together. */
  readonly values: number;
  /** Conditions of all filters. */
  readonly conditions: number;
}

/** Limits of one operation besides `server.complexitylimit`, which limits its fields. */
const maxCost = { records: 100_000, values: 500_000, conditions: 500 };

/** Limits of an operation. @param complexityLimit `server.complexitylimit` */
export function costLimits(complexityLimit: number): Cost {
  return { ...maxCost, fields: complexityLimit };
}

export const noCost: Cost = { fields: 0, records: 0, values: 0, conditions: 0 };

const names = ['fields', 'records', 'values', 'conditions'] as const;

const messages: Readonly<Record<keyof Cost, string>> = {
  fields: 'selects more than # fields of records',
  records: 'can return or count more than # records',
  values: 'can return more than # values',
  conditions: 'has filters with more than # conditions',
};

/** Number with which the text of a statement grows; one that reads several kinds has the selection of each of them. */
const compiledNames = ['fields', 'conditions'] as const;

/** How many times as much as of one kind an operation may select of all kinds together. */
const allKindsFactor = 10;

/** Multiple of the limits of an operation at which counting ends: what fragments repeat can grow without limit. */
const countedFactor = 10;

/** An alternative selection, and how many kinds share it. */
interface Alternative {
  readonly kinds: number;
}

/** Adds up what one operation selects and rejects it when that is more than the limits allow. */
export class OperationBudget {
  readonly #limits: Cost;
  readonly #isCounting: boolean;
  #isExhausted = false;
  #spent = noCost;
  /** The sums over all alternatives, of which `#spent` has only the most expensive one. */
  readonly #compiled = { fields: 0, conditions: 0 };

  /** @param isCounting continues beyond the limits, to know the whole cost; `check` then compares it with them */
  constructor(limits: Cost, isCounting = false) {
    this.#limits = limits;
    this.#isCounting = isCounting;
  }

  /** Whether it has rejected the operation. */
  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  get spent(): Cost {
    return this.#spent;
  }

  /** @throws AppError limit_exceeded */
  spend(cost: Partial<Cost>): void {
    this.#spent = combined(this.#spent, cost, (spent, more = 0) => spent + more);
    this.#compare(this.#isCounting ? countedFactor : 1, ' or more');
  }

  /** Rejects a selection above the limits. @throws AppError limit_exceeded, with the cost of the whole operation */
  check(): void {
    this.#compare(1, '');
  }

  #compare(factor: number, more: string): void {
    for (const name of names) {
      const limit = this.#limits[name];
      const spent = this.#spent[name];
      if (spent > limit * factor) throw this.#tooCostly(name, limit, `: ${spent}${more}`);
    }
  }

  #tooCostly(cost: keyof Cost, limit: number, figure: string): AppError {
    this.#isExhausted = true;
    const what = `${messages[cost].replace('#', String(limit))}${figure}`;
    return limitExceeded(`The operation ${what}; split it, or ask for smaller pages.`, {
      path: '/query',
      message: what,
    });
  }

  /**
   * Reads alternative selections of which each record is answered with one: the most expensive one is charged. The statement has all of
   * them, so their sum has a limit too. The charge does not depend on the records, so that the limits reveal nothing about records that the
   * caller cannot view.
   * @throws AppError limit_exceeded
   */
  alternatives<Option extends Alternative, Result>(
    options: readonly Option[],
    read: (option: Option) => Result,
  ): Result[] {
    const before = this.#spent;
    let most = before;
    const results = options.map((option) => {
      this.#spent = before;
      const result = read(option);
      this.#compile(before, option.kinds);
      most = combined(most, this.#spent, (one, other = 0) => Math.max(one, other));
      return result;
    });
    this.#spent = most;
    return results;
  }

  #compile(before: Cost, kinds: number): void {
    for (const name of compiledNames) {
      this.#compiled[name] += (this.#spent[name] - before[name]) * kinds;
      const limit = this.#limits[name] * allKindsFactor;
      if (this.#compiled[name] > limit)
        throw this.#tooCostly(
          name,
          limit,
          `, added up over the kinds that it can find: ${this.#compiled[name]} or more`,
        );
    }
  }
}

function combined(one: Cost, other: Partial<Cost>, combine: (one: number, other?: number) => number): Cost {
  const value = (name: keyof Cost) => combine(one[name], other[name]);
  return {
    fields: value('fields'),
    records: value('records'),
    values: value('values'),
    conditions: value('conditions'),
  };
}
