import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestModule } from 'vitest/node';
import { fileOf } from './test-names.ts';

/** Seconds of a processor by test file, of the last run of the whole suite in this checkout. */
const lastCosts = join(import.meta.dirname, '..', '..', '.local', 'suite-costs.json');

/** Seconds of a processor by test file. */
export type Costs = Readonly<Record<string, number>>;

/** Prints what each folder of tests has cost, beside the last run of the whole suite, and keeps it for the next. */
export function printCosts(modules: readonly TestModule[]): void {
  const costs = Object.fromEntries(
    modules.map((module) => [fileOf(module), module.meta().processorSeconds ?? 0] as const),
  );
  const before = existsSync(lastCosts) ? (JSON.parse(readFileSync(lastCosts, 'utf8')) as Costs) : {};
  for (const line of costLines(costs, before)) console.log(line);
  mkdirSync(dirname(lastCosts), { recursive: true });
  writeFileSync(lastCosts, `${JSON.stringify(costs, undefined, 2)}\n`);
}

/** The dearest folder first, and all together last. Runs have different files, so only those that both had are compared. */
export function costLines(costs: Costs, before: Costs): string[] {
  const files = Object.keys(costs);
  const sum = (all: Costs, names: readonly string[]) => names.reduce((total, name) => total + (all[name] ?? 0), 0);
  const line = (about: string, names: readonly string[]) => {
    const both = names.filter((name) => before[name] !== undefined);
    const compared = `; ${both.length} of ${names.length} files ran last time: ${seconds(sum(before, both))} then, ${seconds(sum(costs, both))} now`;
    return `processor: ${seconds(sum(costs, names)).padStart(8)} ${about}${both.length === 0 ? '' : compared}`;
  };
  const folders = [...Map.groupBy(files, (file) => dirname(file))];
  return [
    ...folders.toSorted(([, a], [, b]) => sum(costs, b) - sum(costs, a)).map(([folder, names]) => line(folder, names)),
    line('in all', files),
  ];
}

function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}
