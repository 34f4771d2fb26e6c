import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCelEvaluator } from '#activities/clients/cel/create-cel-evaluator.ts';
import { ConfigStore } from '#config/live/config-store.ts';
import { leastEnvironment, Sandbox } from '../../config/configuration-folder.ts';
import { recordRead } from '../../kit/config-reads.ts';
import { eventually } from '../../kit/eventually.ts';
import { shows } from '../../kit/shows.ts';
import { openedEvaluator, taskVariables, type OpenedEvaluator } from './opened-evaluator.ts';

let sandbox: Sandbox;
let store: ConfigStore;
let evaluator: OpenedEvaluator;

beforeAll(async () => {
  sandbox = await Sandbox.make();
  await set({});
  store = await ConfigStore.open({
    directory: sandbox.directory,
    environment: leastEnvironment,
    file: 'c.yaml',
    logger: { info() {}, warn() {}, error: (fields, message) => expect.fail(`${message} ${JSON.stringify(fields)}`) },
    record: recordRead,
  });
  evaluator = openedEvaluator(createCelEvaluator(store));
});
afterAll(async () => {
  store.close();
  await sandbox.remove();
});

/** Sets leaves of `workflows.cel`, as an operator does while the server runs; the others have their defaults. */
async function set(leaves: Readonly<Record<string, unknown>>): Promise<void> {
  await sandbox.write('c.yaml', JSON.stringify({ workflows: { cel: leaves } }));
  await (store as ConfigStore | undefined)?.reload();
}

const codes = async (expression: string) => (await evaluator.problems(expression)).map(({ code }) => code);

const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);

/** Lists of `length` items in each other. */
const nested = (depth: number, length: number, body = '1') =>
  Array.from({ length: depth }, (_, index) => `x${index}`).reduceRight(
    (inner, name) => `[${Array.from({ length }, (_, index) => index).join(', ')}].map(${name}, ${inner})`,
    body,
  );

test('timeout ends an evaluation', async () => {
  const long = nested(3, 100);
  await set({ timeout: 20, costlimit: 1_000_000_000 });
  expect(await evaluator.result(long)).toMatchObject({
    error: { code: 'timeout', message: 'The evaluation took longer than 20 ms.' },
  });
  await set({ timeout: 60_000, costlimit: 1_000_000_000 });
  expect(await evaluator.outcome(`size(${long})`)).toBe(100n);
  shows('workflows.cel.timeout');
});

test('costlimit ends an evaluation', async () => {
  await set({ costlimit: 10, timeout: 60_000 });
  expect(await evaluator.outcome('object.tags.map(t, t)')).toBe('cost_limit');
  await set({ costlimit: 100, timeout: 60_000 });
  expect(await evaluator.outcome('object.tags.map(t, t)')).toEqual(['red', 'blue']);
  shows('workflows.cel.costlimit');
});

test('interruptcheckfrequency says after how many steps the clock is read', async () => {
  const text = 'ab'.repeat(10_000);
  const environment = { variables: { text: 'string' } };
  const slow = `[${Array.from({ length: 500 }, (_, index) => index).join(', ')}].map(x, text.replace("a", "bc").size())`;
  const cost = async (interruptcheckfrequency: number) => {
    await set({ interruptcheckfrequency, timeout: 5, costlimit: 1_000_000_000 });
    const result = await evaluator.result(`${slow}.size()`, { text }, environment);
    expect(result).toMatchObject({ error: { code: 'timeout' } });
    return result.cost;
  };
  // Where the clock is not read, V8 interrupts, and the cost is not known.
  expect(await cost(1_000_000)).toBe(0);
  // On a busy machine the interrupt may come before the next step.
  expect(await eventually(async () => (await cost(1)) > 0)).toBe(true);
  shows('workflows.cel.interruptcheckfrequency');
});

test('parserrecursionlimit limits the levels of an expression', async () => {
  await set({ parserrecursionlimit: 3 });
  expect(await codes('1 + 1 + 1 + 1')).toEqual(['nested_too_deep']);
  await set({ parserrecursionlimit: 4 });
  expect(await codes('1 + 1 + 1 + 1')).toEqual([]);
  shows('workflows.cel.parserrecursionlimit');
});

test('parserexpressionsizelimit counts characters, not code units', async () => {
  const expression = '"😀😀"';
  await set({ parserexpressionsizelimit: 3 });
  expect(await codes(expression)).toEqual(['expression_too_long']);
  await set({ parserexpressionsizelimit: 4 });
  expect(await codes(expression)).toEqual([]);
  shows('workflows.cel.parserexpressionsizelimit');
});

test('comprehensionnestinglimit limits comprehensions in others, and 0 allows none', async () => {
  await set({ comprehensionnestinglimit: 0 });
  expect(await codes(nested(1, 1))).toEqual(['comprehensions_too_deep']);
  expect(await codes('has(object.status)')).toEqual([]);
  await set({ comprehensionnestinglimit: 2 });
  expect(await codes(nested(3, 1))).toEqual(['comprehensions_too_deep']);
  expect(await codes(nested(2, 1))).toEqual([]);
  expect(await codes('object.tags.filter(t, true).map(t, t).all(t, true)')).toEqual([]);
  shows('workflows.cel.comprehensionnestinglimit');
});

test('extendedvalidations refuses literals that always fail, and lists of mixed types', async () => {
  const expressions = [
    'duration("1 hour") > duration("1h")',
    'timestamp("2026-02-31T00:00:00Z") == event_time',
    'object.status.matches("(")',
    '[1, "a"]',
    '{"a": 1, "b": "c"}',
  ];
  await set({ extendedvalidations: true });
  const refused = ['invalid_literal', 'invalid_literal', 'invalid_literal', 'mixed_types', 'mixed_types'];
  expect((await Promise.all(expressions.map(codes))).flat()).toEqual(refused);
  await set({ extendedvalidations: false });
  expect((await Promise.all(expressions.map(codes))).flat()).toEqual([]);
  expect(await evaluator.outcome('[1, "a"]')).toEqual([1n, 'a']);
  expect(await evaluator.outcome('object.status.matches("(")')).toBe('invalid_argument');
  shows('workflows.cel.extendedvalidations');
});

test('optionaltypes allows optional values', async () => {
  const values = {
    'proposed_changes.?status.orValue("none")': 'COMPLETED',
    'proposed_changes.?score.hasValue()': false,
    'optional.of(2).optMap(x, x * 2).value()': 4n,
    'optional.of(2).optFlatMap(x, optional.none()).hasValue()': false,
    'optional.of(1) == optional.of(1)': true,
    'optional.none() != optional.of(1)': true,
    'object.tags[?7].orValue("none")': 'none',
  };
  await set({ optionaltypes: false });
  expect(await codes('proposed_changes.?status')).toEqual(['not_enabled']);
  for (const expression of Object.keys(values)) expect(await codes(expression)).not.toEqual([]);
  await set({ optionaltypes: true });
  for (const [expression, value] of Object.entries(values)) expect(await evaluator.outcome(expression)).toBe(value);
  shows('workflows.cel.optionaltypes');
});

test('identifierescapesyntax allows names in backquotes, and places stay as they are written', async () => {
  await set({ identifierescapesyntax: false });
  expect(await codes('object.`short-name`')).toEqual(['not_enabled']);
  await set({ identifierescapesyntax: true });
  expect(await evaluator.outcome('object.`short-name` == "T-1"')).toBe(true);
  expect(await evaluator.outcome('has(object.`short-name`) && "`" == r"`" // a `comment')).toBe(true);
  expect(await evaluator.problems('object.`short-nam` + object.x')).toEqual([
    { code: 'unknown_field', at: '`short-nam`', message: 'Task has no field "short-nam"; did you mean "short-name"?' },
    { code: 'unknown_field', at: 'x', message: 'Task has no field "x".' },
  ]);
  expect(await codes('`object`.status')).toEqual(['syntax']);
  expect(await codes('object.`short')).toEqual(['syntax']);
  shows('workflows.cel.identifierescapesyntax');
});

test('crosstypenumericcomparisons allows comparisons of int, uint and double', async () => {
  const comparisons = ['object.score < 5.5', 'object.weight >= 1', '1u <= 1'];
  await set({ crosstypenumericcomparisons: false });
  for (const expression of comparisons) expect(await codes(expression)).toEqual(['wrong_type']);
  await set({ crosstypenumericcomparisons: true });
  for (const expression of comparisons) expect(await evaluator.outcome(expression)).toBe(true);
  expect(await codes('object.status < 1')).toEqual(['wrong_type']);
  shows('workflows.cel.crosstypenumericcomparisons');
});

test('macrocalltracking quotes the macro in a message', async () => {
  const wrong = 'object.tags.exists(t, t == 1)';
  const failing = 'object.score == 5 && object.tags.map(t, int(t)).size() > 0';
  const messages = async () => {
    const result = await evaluator.result(failing);
    return [(await evaluator.problems(wrong))[0]?.message, 'error' in result ? result.error.message : ''];
  };
  await set({ macrocalltracking: false });
  expect(await messages()).toEqual(['The types do not fit: string == int.', 'The value is no int.']);
  await set({ macrocalltracking: true });
  expect(await messages()).toEqual([
    'The types do not fit: string == int. In: object.tags.exists(t, t == 1)',
    'The value is no int. In: object.tags.map(t, int(t))',
  ]);
  shows('workflows.cel.macrocalltracking');
});

test('evaloptimize evaluates constant parts once, which the cost shows', async () => {
  const expression = 'object.score > size([1, 2, 3].map(x, x * 2)) || 1 / 0 > 0';
  await set({ evaloptimize: false });
  const full = await evaluator.result(expression);
  await set({ evaloptimize: true });
  const folded = await evaluator.result(expression);
  expect([full, folded]).toMatchObject([{ value: true }, { value: true }]);
  expect(folded.cost).toBeLessThan(full.cost / 2);
  shows('workflows.cel.evaloptimize');
});

test('trackstate gives the values of parts, 16 KB at most, and the cost limit holds with it', async () => {
  await set({ trackstate: true });
  const { parts } = await evaluator.result('object.score > 3 && "red" in object.tags');
  const expression = 'object.score > 3 && "red" in object.tags';
  expect(parts?.map(({ start, end, value }) => [expression.slice(start, end), value])).toContainEqual([
    'object.score > 3',
    true,
  ]);
  expect(parts?.map(({ start, end }) => expression.slice(start, end))).toContain('"red" in object.tags');
  const large = await evaluator.result('object.tags.map(t, changed_fields)', {
    ...taskVariables,
    changed_fields: Array.from({ length: 3000 }, (_, index) => `field ${index}`),
  });
  expect(JSON.stringify(large.parts, asText).length).toBeLessThan(16 * 1024);
  await set({ trackstate: true, costlimit: 14 });
  expect(await evaluator.result('object.tags.map(t, t)')).toMatchObject({
    error: { code: 'cost_limit' },
    parts: expect.arrayContaining([expect.objectContaining({ value: ['red', 'blue'] })]),
  });
  await set({ trackstate: false });
  expect(await evaluator.result('object.score')).not.toHaveProperty('parts');
  shows('workflows.cel.trackstate');
});
