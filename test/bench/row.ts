/** One line of the benchmark table. `reference` is a floor or a peer measured in the same run. */
export interface BenchRow {
  readonly name: string;
  /** Of `ours` and `reference`. */
  readonly unit: string;
  readonly ours: number;
  readonly reference: number | null;
  /** ours / reference for rates, reference / ours for times: more is better, 1 is as good as the reference. */
  readonly ratio: number | null;
  /** Half the distance between the first and the last round, relative to `ours`; 0 when there was one round. */
  readonly spread: number;
  /** What was measured against what, for the table. */
  readonly note: string;
}

export interface Bench {
  readonly name: string;
  /** Takes minutes or needs the network; runs only when named. */
  readonly isLong?: boolean;
  readonly run: (say: (line: string) => void) => Promise<BenchRow[]>;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The value below which the given share of the values lies (nearest rank). */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function spreadOf(values: readonly number[]): number {
  if (values.length < 2) return 0;
  return (Math.max(...values) - Math.min(...values)) / 2 / median(values);
}
