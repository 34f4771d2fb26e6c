import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { CelResult } from '#activities/clients/cel/cel-contract.ts';
import { openEvaluator } from '../../activities/cel/opened-evaluator.ts';
import { misses } from './cel-misses.ts';
import { celVectors, type CelVector } from './cel-vectors.ts';

/** Everything that the specification has is on; lists of mixed types are allowed, since it has them. */
const evaluator = openEvaluator({
  timeout: 60_000,
  extendedvalidations: false,
  optionaltypes: true,
  crosstypenumericcomparisons: true,
});

const vectors = celVectors();

async function isPassed({ expression, environment, variables, expected }: CelVector): Promise<boolean> {
  const [result] = await evaluator.evaluate({ environment, items: [{ expression, variables }] });
  return result !== undefined && isAsExpected(result, expected);
}

function isAsExpected(result: CelResult, expected: CelVector['expected']): boolean {
  if (expected === undefined) return 'error' in result;
  // Maps of values have no prototype.
  return 'value' in result && isDeepStrictEqual(withPrototypes(result.value), withPrototypes(expected.value));
}

function withPrototypes(value: unknown): unknown {
  return structuredClone(value);
}

test('the vectors of the specification of CEL pass, except those that are listed with a reason', async () => {
  const failed: string[] = [];
  for (const vector of vectors) if (!(await isPassed(vector))) failed.push(vector.id);
  const listed = misses.flatMap(({ ids }) => ids);
  expect({
    new: failed.filter((id) => !listed.includes(id)),
    nowPassing: listed.filter((id) => !failed.includes(id)),
  }).toEqual({ new: [], nowPassing: [] });
});

test('the vectors are those of the specification, a thousand and more', () => {
  expect(vectors.length).toBeGreaterThan(1200);
});

test('a wrong value, and a value in place of an error, do not pass', async () => {
  const [sum] = await evaluator.evaluate({
    environment: { variables: {} },
    items: [{ expression: '1 + 1', variables: {} }],
  });
  if (sum === undefined) throw new Error('no result');
  expect(isAsExpected(sum, { value: 2n })).toBe(true);
  expect(isAsExpected(sum, { value: 3n })).toBe(false);
  expect(isAsExpected(sum, { value: 2 })).toBe(false);
  expect(isAsExpected(sum, undefined)).toBe(false);
});
