import type { Config } from '#config/objects/root.ts';
import type {
  CelBatch,
  CelEnvironment,
  CelErrorCode,
  CelEvaluator,
  CelItem,
  CelResult,
  CompiledCel,
  CompileRequest,
} from './cel-contract.ts';
import { ThreadPool, type PoolAnswer, type PoolOptions } from './thread-pool.ts';
import type { ThreadRequest } from './thread-request.ts';

interface CurrentConfig {
  readonly current: Pick<Config, 'workflows'>;
}

const defaults: PoolOptions = { threads: 1, memoryMb: 128 };

/**
 * Compiles and evaluates expressions (CEL) in threads, under the limits of the current configuration.
 * @param options threads that work at the same time (1), and the heap of each (128 MB)
 */
export function createCelEvaluator(config: CurrentConfig, options: Partial<PoolOptions> = {}): CelEvaluator {
  return new ThreadedEvaluator(config, new ThreadPool({ ...defaults, ...options }));
}

class ThreadedEvaluator implements CelEvaluator {
  readonly #config: CurrentConfig;
  readonly #pool: ThreadPool;
  /** Serialized environments, of the objects that were given. */
  readonly #serialized = new WeakMap<CelEnvironment, string>();

  constructor(config: CurrentConfig, pool: ThreadPool) {
    this.#config = config;
    this.#pool = pool;
  }

  async compile({ expression, environment, expected }: CompileRequest): Promise<CompiledCel> {
    const items = [{ expression, expected, variables: {} }];
    const answer = await this.#pool.run(this.#request('compile', environment, items));
    if ('compiled' in answer && answer.compiled[0] !== undefined) return answer.compiled[0];
    if ('mistake' in answer) throw new TypeError(answer.mistake);
    const message =
      'refused' in answer
        ? 'Too many expressions wait to be compiled; try again in a few seconds.'
        : 'The expression takes too long or too much memory to compile.';
    return { problems: [{ code: 'too_costly', message, start: 0, end: expression.length }], fields: [] };
  }

  async evaluate({ environment, items, together = false }: CelBatch): Promise<CelResult[]> {
    const { timeout } = this.#config.current.workflows.cel;
    const deadline = together ? performance.now() + timeout : undefined;
    const results = new Map<CelItem, CelResult>();
    let open = items;
    while (open.length > 0) {
      const togetherMs = deadline === undefined ? undefined : Math.max(1, deadline - performance.now());
      const answer = await this.#pool.run(this.#request('evaluate', environment, open, togetherMs), togetherMs);
      if ('mistake' in answer) throw new TypeError(answer.mistake);
      const answered = 'results' in answer ? answer.results : [];
      // A thread ends with an item that takes all its memory; the other items are evaluated again by the next thread.
      const ending = 'ended' in answer ? open[answer.at] : undefined;
      for (const [index, item] of open.entries()) {
        const result =
          answered[index] ?? (ending === undefined || item === ending ? failed(answer, timeout) : undefined);
        if (result !== undefined) results.set(item, result);
      }
      open = open.filter((item) => !results.has(item));
    }
    return items.flatMap((item) => results.get(item) ?? []);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  #request(
    task: ThreadRequest['task'],
    environment: CelEnvironment,
    items: readonly CelItem[],
    togetherMs?: number,
  ): ThreadRequest {
    const progress = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
    const limits = { ...this.#config.current.workflows.cel };
    return { task, environment: this.#serialize(environment), items, limits, togetherMs, progress };
  }

  #serialize(environment: CelEnvironment): string {
    const known = this.#serialized.get(environment);
    if (known !== undefined) return known;
    const serialized = JSON.stringify(environment);
    this.#serialized.set(environment, serialized);
    return serialized;
  }
}

/** The result of an item whose evaluation no thread finished. */
function failed(answer: PoolAnswer, timeoutMs: number): CelResult {
  const [code, message]: readonly [CelErrorCode, string] =
    'refused' in answer && answer.refused === 'busy'
      ? ['busy', 'Too many expressions wait to be evaluated; try again in a few seconds.']
      : 'ended' in answer && answer.ended === 'memory'
        ? ['memory_limit', 'The expression needs too much memory.']
        : ['timeout', `The evaluation took longer than ${timeoutMs} ms.`];
  return { error: { code, message }, cost: 0 };
}
