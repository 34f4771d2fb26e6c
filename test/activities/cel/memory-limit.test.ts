import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const module = new URL('../../../activities/clients/cel/create-cel-evaluator.ts', import.meta.url).href;

/** Three items, of which the second makes lists until its thread has no memory left; then another one, as later work. */
const program = `
  import { createCelEvaluator } from ${JSON.stringify(module)};
  const cel = { timeout: 60000, costlimit: 1e9, interruptcheckfrequency: 100, parserrecursionlimit: 250,
    parserexpressionsizelimit: 100000, comprehensionnestinglimit: 4 };
  const evaluator = createCelEvaluator({ current: { workflows: { cel } } }, { memoryMb: 32 });
  const list = JSON.stringify(Array.from({ length: 300 }, (_, index) => index));
  const bomb = ['a', 'b', 'c', 'd'].reduceRight((body, name) => list + '.map(' + name + ', ' + body + ')', '"x"');
  const evaluate = (...expressions) =>
    evaluator.evaluate({ environment: { variables: {} }, items: expressions.map((expression) => ({ expression, variables: {} })) });
  const results = [...(await evaluate('"one"', bomb, '"three"')), ...(await evaluate('"four"'))];
  console.log(JSON.stringify(results.map(({ value, error }) => value ?? error.code)));
  await evaluator.close();
`;

const outcomes = async (env: NodeJS.ProcessEnv): Promise<unknown> => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env });
  return JSON.parse(stdout) as unknown;
};

// In processes of their own: a heap size among the options of a process, as the tests have it, is that of its threads, too.
test.each([
  ['without options', {}],
  ['with the options of the product', { NODE_OPTIONS: '--max-semi-space-size=16 --max-old-space-size=768' }],
])('an expression that takes all memory ends; all others have their values, %s', async (_, env) => {
  expect(await outcomes(env)).toEqual(['one', 'memory_limit', 'three', 'four']);
});
