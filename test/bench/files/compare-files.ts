import { alternate } from '../duel.ts';
import { median, spreadOf, type BenchRow } from '../row.ts';
import { cpuSecondsOf } from './process-usage.ts';

/** One round of a side: how much was done, and in which time. */
export interface Done {
  readonly amount: number;
  readonly seconds: number;
}

export interface FileSide {
  /** Of the server that works. */
  readonly pid: number;
  readonly work: () => Promise<Done>;
}

export interface FileComparison {
  readonly name: string;
  /** Of the amount. */
  readonly unit: string;
  readonly ours: FileSide;
  readonly reference: FileSide;
  readonly rounds: number;
  readonly note: string;
  readonly say: (line: string) => void;
  /** Runs after each round of a side, unmeasured. */
  readonly tidy?: () => Promise<void>;
}

/** Rate and CPU time of both sides, taken in turn. CPU time is that of the server's process alone, so it depends less on the machine's load. */
export async function compareFiles(comparison: FileComparison): Promise<BenchRow[]> {
  const { name, unit, ours, reference, rounds, note, say, tidy } = comparison;
  const cpu = { ours: [] as number[], reference: [] as number[] };
  const measure = async (side: 'ours' | 'reference'): Promise<number> => {
    const { pid, work } = comparison[side];
    const before = cpuSecondsOf(pid);
    const { amount, seconds } = await work();
    cpu[side].push(((cpuSecondsOf(pid) - before) / amount) * 1_000);
    await tidy?.();
    return amount / seconds;
  };
  await ours.work();
  await tidy?.();
  await reference.work();
  await tidy?.();
  const rows = await alternate({
    name,
    unit: `${unit}/s`,
    ours: () => measure('ours'),
    reference: () => measure('reference'),
    rounds,
    note,
    say,
  });
  const [mine, theirs] = [median(cpu.ours), median(cpu.reference)];
  return [
    ...rows,
    {
      name: `${name}-cpu`,
      unit: `ms/${unit}`,
      ours: mine,
      reference: theirs,
      ratio: theirs / mine,
      spread: spreadOf(cpu.ours),
      note: 'CPU time of the server',
    },
  ];
}
