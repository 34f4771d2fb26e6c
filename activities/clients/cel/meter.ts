import type { CelErrorCode } from './cel-contract.ts';
import { isHeapFull } from './heap-limit.ts';

/** Why an evaluation ended without a value. */
export class CelFailure extends Error {
  readonly code: CelErrorCode;
  /** Place in the prepared source, set by the innermost part that knows it. */
  place: { readonly start: number; readonly end: number } | undefined;

  /** @param message without values of variables: it is shown to people who may not view the record */
  constructor(code: CelErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Ends the evaluation also inside of `||`, `&&`, `all` and `exists`, which otherwise ignore errors of one side. */
  get isLimit(): boolean {
    return limitCodes.has(this.code);
  }
}

const limitCodes: ReadonlySet<CelErrorCode> = new Set(['timeout', 'cost_limit', 'memory_limit', 'value_too_large']);

/** Bytes that one evaluation may make. They are outside of the heap, so the limit of the thread does not see them. */
const maxByteValues = 16 * 1024 * 1024;

interface MeterLimits {
  /** In cost units. */
  readonly costLimit: number;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  /** Steps of comprehensions between two looks at the clock. */
  readonly checkFrequency: number;
  readonly timeoutMs: number;
}

/**
 * Counts the cost of the running evaluation in tenths of a unit, so that it is exact, and ends the evaluation at its limits. A thread runs
 * one evaluation at a time, so there is one meter.
 */
class Meter {
  #tenths = 0;
  #bytes = 0;
  #steps = 0;
  #limits: MeterLimits = { costLimit: 0, deadline: 0, checkFrequency: 1, timeoutMs: 0 };

  start(limits: MeterLimits): void {
    this.#tenths = 0;
    this.#bytes = 0;
    this.#steps = 0;
    this.#limits = limits;
  }

  /** Cost of the evaluation until now, in units. */
  get cost(): number {
    return this.#tenths / 10;
  }

  charge(tenths: number): void {
    this.#tenths += tenths;
    if (this.#tenths > this.#limits.costLimit * 10)
      throw new CelFailure('cost_limit', `The expression costs more than ${this.#limits.costLimit} units.`);
  }

  /** Charges for texts, byte strings and lists by their size. @param values others cost nothing */
  chargeSizes(...values: readonly unknown[]): void {
    let tenths = 0;
    for (const value of values) {
      if (typeof value === 'string' || value instanceof Uint8Array) tenths += value.length;
      else if (Array.isArray(value)) tenths += value.length * 10;
    }
    if (tenths > 0) this.charge(tenths);
  }

  chargeBytes(length: number): void {
    this.#bytes += length;
    this.charge(length);
    if (this.#bytes > maxByteValues)
      throw new CelFailure('value_too_large', 'The expression makes more than 16 MB of bytes.');
  }

  /** One step of a comprehension. */
  step(): void {
    this.charge(10);
    if (++this.#steps % this.#limits.checkFrequency === 0) this.checkLimits();
  }

  /** Looks at the clock and at the heap. */
  checkLimits(): void {
    if (performance.now() > this.#limits.deadline) throw timedOut(this.#limits.timeoutMs);
    if (isHeapFull()) throw new CelFailure('memory_limit', 'The expression needs too much memory.');
  }
}

export function timedOut(timeoutMs: number): CelFailure {
  return new CelFailure('timeout', `The evaluation took longer than ${timeoutMs} ms.`);
}

export const meter = new Meter();
