import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

/** Leaves of `workflows.cel`, as somebody who writes definitions meets them. `test/activities/cel/leaves.test.ts` has more of each. */
let world: World;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld({ environment: { CORE_WORKFLOWS_ENABLED: 'true' } });
  client = await signedIn(world, await buildPerson(world));
});
afterAll(() => world.close());

const url = '/v1/workflow-definitions';

const documentWith = (expression: string) => ({
  schemaType: 'Task',
  triggers: [{ operation: 'UPDATE', expression }],
  actions: [{ key: 'tell', type: 'NOTIFY', params: { targets: [{ type: 'ROLE', id: 'owner' }], title: 'Changed' } }],
});

let names: readonly string[] = [];
/** Sets leaves of `workflows.cel` while the server runs; the others have their defaults. */
async function set(leaves: Readonly<Record<string, unknown>>): Promise<void> {
  const nameOf = (leaf: string) => `CORE_WORKFLOWS_CEL_${leaf.toUpperCase()}`;
  const former = names.map((name) => [name, undefined] as const);
  const given = Object.entries(leaves).map(([leaf, value]) => [nameOf(leaf), String(value)] as const);
  await world.reconfigure(Object.fromEntries([...former, ...given]));
  names = given.map(([name]) => name);
}

/** Messages about an expression, when it is checked. */
async function problems(expression: string): Promise<string[]> {
  const payload = { record_kind: 'task', document: documentWith(expression) };
  const { status, body } = await client.post(`${url}/validate`, payload);
  expect(status, JSON.stringify(body)).toBe(200);
  return (body.problems as { message: string }[]).map(({ message }) => message);
}

/** The result of a made-up change that starts the definition if the expression is true. */
async function attempt(expression: string) {
  const saved = await client.post(url, { name: 'tried', record_kind: 'task', document: documentWith(expression) });
  expect(saved.status, JSON.stringify(saved.body)).toBe(201);
  const before = { priority: 5, tags: ['red', 'blue'] };
  const payload = { operation: 'update', before, changes: { status: 'completed' } };
  const { status, body } = await client.post(`${url}/${saved.body.id}/try`, payload);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as { starts: boolean; failures: string[]; cost: number };
}

const list = `[${Array.from({ length: 100 }, (_, index) => index).join(', ')}]`;
/** A million steps. */
const long = `${list}.map(a, ${list}.map(b, ${list}.map(c, a + b + c + object.priority))).size() == 100`;

test('timeout ends an evaluation', async () => {
  await set({ timeout: 5, costlimit: 1_000_000_000 });
  expect(await attempt(long)).toMatchObject({ starts: false, failures: ['The evaluation took longer than 5 ms.'] });
  await set({ timeout: 60_000, costlimit: 1_000_000_000 });
  expect(await attempt(long)).toMatchObject({ starts: true, failures: [] });
  shows('workflows.cel.timeout');
});

test('costlimit ends an evaluation', async () => {
  const expression = 'object.tags.map(t, t).size() == 2';
  await set({ costlimit: 10, timeout: 60_000 });
  expect(await attempt(expression)).toMatchObject({ starts: false, failures: [expect.stringContaining('cost')] });
  await set({ costlimit: 100, timeout: 60_000 });
  expect(await attempt(expression)).toMatchObject({ starts: true, failures: [] });
  shows('workflows.cel.costlimit');
});

test('interruptcheckfrequency says after how many steps the clock is read', async () => {
  // Where the clock is not read, V8 interrupts, and the cost is not known.
  await set({ timeout: 5, costlimit: 1_000_000_000, interruptcheckfrequency: 1_000_000 });
  expect((await attempt(long)).cost).toBe(0);
  await set({ timeout: 5, costlimit: 1_000_000_000, interruptcheckfrequency: 1 });
  // On a busy machine the interrupt may come before the next step.
  expect(await eventually(async () => (await attempt(long)).cost > 0)).toBe(true);
  shows('workflows.cel.interruptcheckfrequency');
});

test.each([
  ['parserrecursionlimit', '1 + 1 + 1 + 1 == object.priority', 3, 250],
  ['parserexpressionsizelimit', 'object.priority > 5', 18, 19],
  ['comprehensionnestinglimit', 'object.tags.exists(t, object.tags.exists(u, u != t))', 1, 2],
  ['comprehensionnestinglimit', 'object.tags.exists(t, t == "red")', 0, 1],
  ['extendedvalidations', 'duration("1 hour") > duration("1h")', true, false],
  ['optionaltypes', 'proposed_changes.?status.orValue("none") == "none"', false, true],
  ['identifierescapesyntax', 'object.`status` == "open"', false, true],
  ['crosstypenumericcomparisons', 'object.priority < 5.5', false, true],
] as const)('with %s, "%s" is refused at %s and accepted at %s', async (leaf, expression, refused, accepted) => {
  await set({ [leaf]: refused });
  expect(await problems(expression)).not.toEqual([]);
  await set({ [leaf]: accepted });
  expect(await problems(expression)).toEqual([]);
  shows(`workflows.cel.${leaf}`);
});

test('macrocalltracking quotes the macro in a message', async () => {
  const macro = 'object.tags.exists(t, t == 1)';
  await set({ macrocalltracking: false });
  expect(await problems(macro)).toEqual([expect.not.stringContaining(macro)]);
  await set({ macrocalltracking: true });
  expect(await problems(macro)).toEqual([expect.stringContaining(macro)]);
  shows('workflows.cel.macrocalltracking');
});

test('evaloptimize evaluates constant parts when a definition is saved, which the cost shows', async () => {
  const expression = `object.priority < size(${list}.map(x, x * 2))`;
  await set({ evaloptimize: false });
  const full = await attempt(expression);
  await set({ evaloptimize: true });
  const folded = await attempt(expression);
  expect([full, folded]).toMatchObject([{ starts: true }, { starts: true }]);
  expect(folded.cost).toBeLessThan(full.cost / 2);
  shows('workflows.cel.evaloptimize');
});
