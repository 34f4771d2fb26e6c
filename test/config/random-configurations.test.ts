import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfiguration } from '#config/reading/load-configuration.ts';
import { leaves } from '#config/objects/leaf.ts';
import { printExample } from '#tools/generators/print-configuration.ts';
import { ConfigurationError, printProblem } from '#config/schema/config-problem.ts';
import { parse } from 'yaml';
import { seedOf, timesOf, type Depth } from '../kit/depth.ts';
import { recordTried } from '../kit/tried.ts';
import { leastEnvironment, Sandbox } from './configuration-folder.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.make();
});
afterAll(() => sandbox.remove());

const example = printExample();

/** How often fast-check tries a property in this run, and from which seed. */
function runs(what: string, times: Readonly<Record<Depth, number>>): { numRuns: number; seed: number } {
  const numRuns = timesOf(times);
  recordTried(what, numRuns);
  return { numRuns, seed: seedOf(what) };
}

/** Loads and expects success or a `ConfigurationError` whose problems are whole and on one line each. */
async function loadsOrExplains(content: string, environment: Record<string, string> = leastEnvironment): Promise<void> {
  try {
    await sandbox.load(content, environment);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    expect(error.problems.length).toBeGreaterThan(0);
    for (const problem of error.problems) {
      expect(problem.where).not.toBe('');
      expect(problem.reason).not.toBe('');
      expect(problem.remedy).not.toBe('');
      expect(printProblem(problem)).not.toMatch(/[\r\n\0]/u);
    }
  }
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
}

/** Replaces, removes or renames what lies at one place of a JSON value. */
function mutate(value: unknown, steps: readonly number[], change: (value: unknown) => unknown): unknown {
  const [step, ...rest] = steps;
  if (step === undefined || typeof value !== 'object' || value === null) return change(value);
  const entries = Object.entries(value);
  const chosen = entries[step % Math.max(1, entries.length)];
  if (chosen === undefined) return change(value);
  const mutated = mutate(chosen[1], rest, change);
  if (Array.isArray(value)) return value.with(Number(chosen[0]), mutated);
  return { ...value, [chosen[0]]: mutated };
}

const anyKey = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'enabled', '', ' ', 'a.b', 'ключ', '\u0000'),
  fc.string(),
);

describe('the loader never crashes', () => {
  test('whatever is changed in the example', async () => {
    const document: unknown = parse(example);
    const steps = fc.array(fc.nat(40), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(steps, fc.oneof(fc.jsonValue(), fc.dictionary(anyKey, fc.jsonValue()))), {
          minLength: 1,
          maxLength: 4,
        }),
        async (changes) => {
          const mutated = changes.reduce<unknown>(
            (value, [path, replacement]) => mutate(value, path, () => replacement),
            document,
          );
          await loadsOrExplains(JSON.stringify(mutated) ?? 'null');
        },
      ),
      runs('changes of the example', { sample: 50, prove: 5_000 }),
    );
  });

  test('whatever happens to the text', async () => {
    const edit = fc.tuple(
      fc.nat(example.length),
      fc.nat(40),
      fc.oneof(
        fc.string(),
        fc.constantFrom(
          '\t',
          '\n',
          ':',
          '- ',
          '&a ',
          '*a',
          '{',
          '[',
          '"',
          "'",
          '|',
          '!!set ',
          '<<: ',
          '%',
          '\u0000',
          '\uFEFF',
          '? ',
        ),
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
        let text = example;
        for (const [at, removed, inserted] of edits) text = text.slice(0, at) + inserted + text.slice(at + removed);
        await loadsOrExplains(text);
      }),
      runs('edits of the text', { sample: 40, prove: 5_000 }),
    );
  });

  test('whatever the variables hold', async () => {
    const names = leaves.flatMap((leaf) => [leaf.variable, `${leaf.variable}_FILE`]);
    const name = fc.oneof(
      fc.constantFrom(...names),
      fc.string().map((rest) => `CORE_${rest.replaceAll('\0', '')}`),
    );
    const value = fc.oneof(
      fc.string(),
      fc.json(),
      fc.constantFrom('true', '0', '-1', '1e3', 'NaN', '[', '{"__proto__": {"polluted": 1}}', ',', 'a,b'),
    );
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, value, { maxKeys: 8 }), async (variables) => {
        const environment = { ...leastEnvironment, ...variables };
        await loadConfiguration({ directory: sandbox.directory, environment }).catch((error: unknown) => {
          if (!(error instanceof ConfigurationError)) throw error;
        });
        expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      }),
      runs('variables', { sample: 60, prove: 5_000 }),
    );
  });
});
