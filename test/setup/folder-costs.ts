import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestModule } from 'vitest/node';
import { fileOf } from './test-names.ts';

/** Seconds of a processor by folder, of the last run of the whole suite in this checkout. */
const lastCosts = join(import.meta.dirname, '..', '..', '.local', 'suite-costs.json');

type Costs = Readonly<Record<string, number>>;

/** Prints what each folder of tests has cost, beside the last run of the whole suite, and keeps it for the next. */
export function printCosts(modules: readonly TestModule[]): void {
  const costs = costsOf(modules);
  const before = existsSync(lastCosts) ? (JSON.parse(readFileSync(lastCosts, 'utf8')) as Costs) : {};
  for (const line of costLines(costs, before)) console.log(line);
  mkdirSync(dirname(lastCosts), { recursive: true });
  writeFileSync(lastCosts, `${JSON.stringify(costs, undefined, 2)}\n`);
}

function costsOf(modules: readonly TestModule[]): Costs {
  const costs: Record<string, number> = {};
  for (const module of modules) {
    const folder = dirname(fileOf(module));
    costs[folder] = (costs[folder] ?? 0) + (module.meta().processorSeconds ?? 0);
  }
  return costs;
}

/** The dearest folder first, and the sum of all last. */
export function costLines(costs: Costs, before: Costs): string[] {
  const line = (name: string, seconds: number, last: number | undefined) =>
    `processor: ${seconds.toFixed(1).padStart(6)} s${last === undefined ? '' : ` (last run ${last.toFixed(1)} s)`} ${name}`;
  const sum = (all: Costs) => Object.values(all).reduce((total, seconds) => total + seconds, 0);
  return [
    ...Object.entries(costs)
      .toSorted(([, a], [, b]) => b - a)
      .map(([folder, seconds]) => line(folder, seconds, before[folder])),
    line('in all', sum(costs), Object.keys(before).length > 0 ? sum(before) : undefined),
  ];
}
