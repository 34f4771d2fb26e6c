import { isCelError, isCelList, run } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import { expect, test } from 'vitest';
import type { CelEnvironment, CelItem, CelResult } from '#activities/clients/cel/cel-contract.ts';
import { seeded, timesOf } from '../../kit/depth.ts';
import { openEvaluator, taskEnvironment, taskVariables } from './opened-evaluator.ts';
import { randomText, typedExpression } from './random-expression.ts';

const evaluator = openEvaluator({ costlimit: 20_000, optionaltypes: true });

const batchSize = 500;

const environment: CelEnvironment = {
  variables: { i: 'int', d: 'double', s: 'string', b: 'bool', l: 'list<int>' },
};
const variables = { i: 5n, d: 1.25, s: 'Some text', b: true, l: [3n, 1n, 2n] };

test('T-122: random texts end with a value or an error, within the cost limit, and change nothing', async () => {
  const random = seeded('texts of CEL');
  const before = JSON.stringify(taskVariables);
  const outcomes = new Set<string>();
  for (let left = timesOf({ sample: 2000, prove: 50_000 }); left > 0; left -= batchSize) {
    const items = Array.from({ length: batchSize }, () => item(randomText(random, 12), taskVariables));
    const results = await evaluator.evaluate({ environment: taskEnvironment, items });
    expect(results).toHaveLength(batchSize);
    for (const [index, result] of results.entries()) {
      outcomes.add('value' in result ? 'value' : result.error.code);
      expect(result.cost, items[index]?.expression).toBeLessThan(20_100);
      expect(isHarmless(result), items[index]?.expression).toBe(true);
    }
  }
  expect(JSON.stringify(taskVariables)).toBe(before);
  expect([...outcomes]).toEqual(expect.arrayContaining(['value', 'does_not_compile']));
});

const item = (expression: string, values: CelItem['variables']): CelItem => ({ expression, variables: values });

/** Whether a result has neither the hidden field of the task nor a part of JavaScript. */
function isHarmless(result: CelResult): boolean {
  if ('error' in result) return result.error.code !== 'memory_limit';
  const text = JSON.stringify(result.value, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
  return !text.includes('hidden') && !text.includes('[native code]');
}

test('random expressions have the values that another implementation finds', async () => {
  const random = seeded('expressions of CEL');
  let compared = 0;
  for (let left = timesOf({ sample: 1000, prove: 20_000 }); left > 0; left -= batchSize) {
    const expressions = Array.from({ length: batchSize }, () => typedExpression(random, 4));
    const items = expressions.map((expression) => item(expression, variables));
    const results = await evaluator.evaluate({ environment, items });
    for (const [index, result] of results.entries()) {
      const expression = expressions[index] ?? '';
      if ('error' in result && result.error.code === 'cost_limit') continue;
      expect(plain(result), expression).toEqual(valueOfOther(expression));
      compared++;
    }
  }
  expect(compared).toBeGreaterThan(900);
});

/** What `@bufbuild/cel` says; `error` for an error. */
function valueOfOther(expression: string): unknown {
  const value = run(expression, variables, { funcs: strings });
  return isCelError(value) ? 'error' : isCelList(value) ? [...value] : value;
}

function plain(result: CelResult): unknown {
  return 'value' in result ? result.value : 'error';
}
