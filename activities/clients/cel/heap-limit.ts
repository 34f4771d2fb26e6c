import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { workerData } from 'node:worker_threads';

/** Data that a thread gets at its start. */
export interface ThreadData {
  /** Heap that its values may take, in bytes. */
  readonly maxHeapBytes: number;
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- given by thread-pool.ts; undefined elsewhere
const { maxHeapBytes } = (workerData ?? { maxHeapBytes: Infinity }) as ThreadData;

let collect: (() => void) | undefined;

/**
 * Whether the heap of this thread is full. The limit that Node gives a thread is replaced by `--max-old-space-size` where a process has that
 * option, and the processes of the product have it; so the thread looks itself, which takes a microsecond.
 */
export function isHeapFull(): boolean {
  if (getHeapStatistics().used_heap_size < maxHeapBytes) return false;
  collect ??= garbageCollector();
  collect();
  return getHeapStatistics().used_heap_size >= maxHeapBytes;
}

/** V8 reports garbage as used until it collects it. */
function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof gc !== 'function') throw new Error('V8 has no collector of garbage');
  return () => void gc();
}
