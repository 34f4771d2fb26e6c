import { parentPort } from 'node:worker_threads';
import { Script } from 'node:vm';
import { LRUCache } from 'lru-cache';
import type { CelEnvironment, CelError, CelItem, CelResult, CompiledCel } from './cel-contract.ts';
import { PreparedEnvironment } from './environment.ts';
import { dropPatterns } from './functions/patterns.ts';
import { timedOut } from './meter.ts';
import { Program } from './program.ts';
import { compileTimeoutMs, type ThreadRequest, type ThreadResponse } from './thread-request.ts';

// The program of the threads that compile and evaluate; thread-pool.ts starts them.

/** Compiled expressions that are kept, and their parts together, each of which takes about 1 KB. */
const maxPrograms = 500;
const maxKeptParts = 40_000;

const maxEnvironments = 100;

/** A run under one watchdog takes further items for this long, since to set a watchdog takes a tenth of a millisecond. */
const sliceMs = 2;

/** Time after a timeout at which V8 interrupts. The clock that a comprehension reads comes first, as it leaves everything in order. */
const interruptMs = 3;

const tooLongToCompile: CelError = { code: 'timeout', message: 'The expression takes too long to compile.' };

/** An environment under certain limits, and its programs by their expressions. */
interface Room {
  readonly id: number;
  /** Undefined until its first expression is compiled. */
  environment: PreparedEnvironment | undefined;
}

class EvaluationThread {
  #rooms = newRooms();
  #programs = newPrograms();
  #lastRoom = 0;
  #work: () => void = () => undefined;
  readonly #script = new Script('this[Symbol.for("core.cel.work")]()');

  constructor() {
    // The interrupt of V8 ends a script; the script calls what is set here.
    Object.defineProperty(globalThis, Symbol.for('core.cel.work'), { value: () => this.#work() });
  }

  handle(request: ThreadRequest): ThreadResponse {
    if (request.task === 'compile') return { compiled: this.#compile(request) };
    return { results: this.#evaluate(request) };
  }

  #compile(request: ThreadRequest): CompiledCel[] {
    return request.items.map((item, index) => {
      const program = this.#prepare(request, item, index);
      if (program !== undefined) return program.describe(item.expected);
      const { message } = tooLongToCompile;
      return { problems: [{ code: 'too_costly', message, start: 0, end: item.expression.length }], fields: [] };
    });
  }

  #evaluate(request: ThreadRequest): CelResult[] {
    const { items, limits, togetherMs, progress } = request;
    const results: CelResult[] = [];
    const endsAt = togetherMs === undefined ? undefined : performance.now() + togetherMs;
    while (results.length < items.length) {
      const next = items[results.length];
      if (next === undefined) break;
      if (this.#prepare(request, next, results.length) === undefined) {
        results.push({ error: tooLongToCompile, cost: 0 });
        continue;
      }
      const room = this.#room(request);
      const startedAt = performance.now();
      const leftMs = endsAt === undefined ? limits.timeout + sliceMs : Math.max(1, endsAt - startedAt);
      let begun = 0;
      const isDone = this.#interruptible(leftMs + interruptMs, () => {
        while (results.length < items.length && performance.now() < startedAt + sliceMs) {
          const item = items[results.length];
          const program = item && this.#programs.get(keyOf(room, item));
          if (program === undefined || item === undefined) return;
          begun = results.length + 1;
          Atomics.store(progress, 1, results.length);
          Atomics.add(progress, 0, 1);
          results.push(program.evaluate(item, endsAt ?? performance.now() + limits.timeout));
        }
      });
      // The interrupt may also come between two items.
      if (!isDone && results.length < begun) results.push(tooLong(limits.timeout));
    }
    return results;
  }

  /** Undefined if the expression takes too long to compile. */
  #prepare(request: ThreadRequest, item: CelItem, index: number): Program | undefined {
    const { environment, limits, progress } = request;
    const room = this.#room(request);
    const key = keyOf(room, item);
    let program = this.#programs.get(key);
    if (program !== undefined) return program;
    Atomics.store(progress, 1, index);
    Atomics.add(progress, 0, 1);
    const isDone = this.#interruptible(compileTimeoutMs, () => {
      room.environment ??= new PreparedEnvironment(JSON.parse(environment) as CelEnvironment, limits);
      program = new Program(item.expression, room.environment, limits);
    });
    if (!isDone || program === undefined) return undefined;
    this.#programs.set(key, program);
    return program;
  }

  #room({ environment, limits }: ThreadRequest): Room {
    const key = `${JSON.stringify(limits)}\n${environment}`;
    const known = this.#rooms.get(key);
    if (known !== undefined) return known;
    const room: Room = { id: ++this.#lastRoom, environment: undefined };
    this.#rooms.set(key, room);
    return room;
  }

  /** Runs code that V8 interrupts after a time. @returns whether it came to its end */
  #interruptible(timeoutMs: number, work: () => void): boolean {
    this.#work = work;
    try {
      this.#script.runInThisContext({ timeout: Math.ceil(timeoutMs) });
      return true;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')) throw error;
      // The interrupt may have come while a table was being built.
      this.#programs = newPrograms();
      this.#rooms = newRooms();
      dropPatterns();
      return false;
    }
  }
}

function keyOf({ id }: Room, { expression }: CelItem): string {
  return `${id} ${expression}`;
}

function newRooms(): LRUCache<string, Room> {
  return new LRUCache<string, Room>({ max: maxEnvironments });
}

function newPrograms(): LRUCache<string, Program> {
  return new LRUCache<string, Program>({
    max: maxPrograms,
    maxSize: maxKeptParts,
    sizeCalculation: (program) => program.partCount + 1,
  });
}

function tooLong(timeoutMs: number): CelResult {
  const { code, message } = timedOut(timeoutMs);
  return { error: { code, message }, cost: 0 };
}

const thread = new EvaluationThread();

parentPort?.on('message', (request: ThreadRequest) => {
  let response: ThreadResponse;
  try {
    response = thread.handle(request);
  } catch (error) {
    response = { mistake: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  parentPort?.postMessage(response);
});
