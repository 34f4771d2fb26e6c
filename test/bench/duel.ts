import { BenchProcess } from './bench-process.ts';
import type { Load, LoadResult } from './load-generator.ts';
import { pace } from './pace.ts';
import { median, spreadOf, type BenchRow } from './row.ts';

type Side = Omit<Load, 'clients' | 'forMs'>;

export interface Duel {
  readonly name: string;
  readonly ours: Side;
  readonly reference: Side;
  readonly note: string;
  readonly say: (line: string) => void;
}

const clients = 16;

/** Two sides of a comparison, each with what measures one round of it. */
export interface Alternation {
  readonly name: string;
  /** Of what is measured; a higher value is better. */
  readonly unit: string;
  readonly ours: () => Promise<number>;
  readonly reference: () => Promise<number>;
  readonly rounds: number;
  readonly note: string;
  readonly say: (line: string) => void;
}

/**
 * Measures both sides in turn. Our side runs twice in each round; the ratio of these two runs is the noise. Every second round runs
 * in reverse order, so that what changes with time affects both sides alike.
 */
export async function alternate(alternation: Alternation): Promise<[BenchRow, BenchRow]> {
  const { name, unit, note, say } = alternation;
  const rounds: { first: number; second: number; reference: number }[] = [];
  for (let round = 0; round < alternation.rounds; round++) {
    const measured = { first: 0, second: 0, reference: 0 };
    const order = ['first', 'reference', 'second'] as const;
    for (const turn of round % 2 === 0 ? order : order.toReversed())
      measured[turn] = await (turn === 'reference' ? alternation.reference() : alternation.ours());
    rounds.push(measured);
    say(
      `round ${round + 1}: ours ${Math.round(measured.first)} and ${Math.round(measured.second)}, reference ${Math.round(measured.reference)} ${unit}`,
    );
  }
  const both = rounds.flatMap(({ first, second }) => [first, second]);
  const firsts = rounds.map(({ first }) => first);
  const seconds = rounds.map(({ second }) => second);
  return [
    {
      name,
      unit,
      ours: median(both),
      reference: median(rounds.map((round) => round.reference)),
      ratio: median(rounds.map((round) => (round.first + round.second) / 2 / round.reference)),
      spread: spreadOf(both),
      note,
    },
    {
      name: `${name}-aa`,
      unit,
      ours: median(firsts),
      reference: median(seconds),
      ratio: median(rounds.map(({ first, second }) => first / second)),
      spread: spreadOf(firsts),
      note: 'the same against itself in the same rounds',
    },
  ];
}

/** Compares two servers under the same load. */
export async function duel({ name, ours, reference, note, say }: Duel): Promise<BenchRow[]> {
  const load = new BenchProcess('test/bench/load-client.ts');
  const measure = async (side: Side, forMs = pace.roundMs): Promise<number> => {
    const { answersPerSecond, refused } = await load.ask<LoadResult>({ ...side, clients, forMs });
    if (Object.keys(refused).length > 0) throw new Error(`${name}: refused were ${JSON.stringify(refused)}`);
    return answersPerSecond;
  };
  try {
    for (const side of [ours, reference]) await measure(side, pace.warmUpMs);
    return await alternate({
      name,
      unit: 'requests/s',
      ours: () => measure(ours),
      reference: () => measure(reference),
      rounds: pace.rounds,
      note,
      say,
    });
  } finally {
    await load.stop();
  }
}
