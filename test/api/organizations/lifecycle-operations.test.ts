import { afterAll, beforeAll, expect, test } from 'vitest';
import { runLifecycleCommand } from '#tools/commands/lifecycle-commands.ts';
import { lifecycleTool } from '#tools/commands/lifecycle-arguments.ts';
import { runOperatorCommand } from '#tools/commands/operator-commands.ts';
import { readCommand } from '#tools/commands/tool.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { openBilledWorld, type BilledWorld } from '../../kit/billing/paying-organization.ts';
import { markSince, settingsOf, unpaidOrganizations } from '../../kit/billing/unpaid-organization.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { enroll, type Authenticator } from '../../kit/identity/authenticator.ts';
import { buildPart, buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';

const url = '/v1/operations/lifecycle';
const reason = 'they asked for time';
const dayMs = 86_400_000;

let billed: BilledWorld;
let person: Person;
let operator: TestClient;
let app: Authenticator;
beforeAll(async () => {
  billed = await openBilledWorld();
  const { world } = billed;
  person = await buildPerson(world);
  operator = await signedIn(world, person);
  ({ app } = await enroll(world, operator));
  const grant = { name: 'grant', person: person.user.email, by: 'somebody@machine', reason: 'duty' } as const;
  await runOperatorCommand(grant, { runtime: world.runtime, print: () => {} });
});
afterAll(() => billed.close());

async function command(line: string) {
  const lines: string[] = [];
  const words = line.split(' ');
  const isDone = await runLifecycleCommand(
    readCommand(lifecycleTool, [
      ...words,
      ...(line.includes('--until') || words[0] === 'spare' ? ['--reason', reason] : []),
    ]),
    {
      runtime: billed.world.runtime,
      print: (text) => lines.push(text),
    },
  );
  return { isDone, said: lines.join('\n') };
}

const inDays = (days: number) => new Date(billed.world.clock.now().getTime() + days * dayMs);

async function unpaid(): Promise<string> {
  const [id = ''] = await unpaidOrganizations(billed.world, 1);
  return id;
}

async function prove(): Promise<void> {
  expect((await operator.post('/v1/2fa/step-up', { code: await app.nextCode() })).status).toBe(200);
}

const noted = (id: string) =>
  asOwner(billed.world, `select operation, operator, reason from event_repairs where repair_id like $1 order by at`, [
    `organization.${id}/%`,
  ]);

const sparings = (id: string) =>
  asOwner(billed.world, `select payload from events where topic = 'organization.spared' and entity_id = $1`, [id]);

test('marked organizations are listed, the oldest mark first, and those that will be marked', async () => {
  const { world } = billed;
  const [first, second, young] = [await unpaid(), await unpaid(), await unpaid()];
  await markSince(world, second, 1);
  await markSince(world, first, 3);
  const ids = (answer: { readonly body: { readonly data: { readonly id: string }[] } }) =>
    answer.body.data.map(({ id }) => id);
  const all = await operator.get(url);
  expect(ids(all)).toEqual([first, second]);
  expect(all.body).toMatchObject({
    data: [{ deletion_notice: 'one_day', deletion_requester_id: null, deleted_at: inDays(4).toISOString() }, {}],
    next: null,
  });
  const page = await operator.get(`${url}?first=1`);
  expect(ids(page)).toEqual([first]);
  expect(ids(await operator.get(`${url}?first=1&after=${encodeURIComponent(page.body.next)}`))).toEqual([second]);
  expect(ids(await operator.get(`${url}?within_days=29`))).not.toContain(young);
  const coming = await operator.get(`${url}?within_days=31&first=100`);
  expect(ids(coming)).toContain(young);
  expect(ids(coming)).not.toContain(first);
  const { said } = await command('list --within 31');
  expect(said).toMatch(new RegExp(`^${first}.*\\n${second}.*nobody pays\\n2 organizations are marked.\\n`));
  expect(said).toContain(young);
  expect((await command('list')).said).not.toContain(young);
});

test('an explanation has the facts, what is due and the next step', async () => {
  const { world } = billed;
  const id = await unpaid();
  const { createdAt } = await settingsOf(world, id);
  expect((await operator.get(`${url}/${id}`)).body).toMatchObject({
    id,
    has_payment_method: false,
    subscription_statuses: [],
    action: null,
    reason: 'it is younger than the interval',
    next_action: 'mark',
    next_at: new Date(createdAt.getTime() + 30 * dayMs + 1).toISOString(),
    marking: 'off',
    deleting: 'off',
  });
  await markSince(world, id, 3);
  expect((await operator.get(`${url}/${id}`)).body).toMatchObject({
    next_action: 'delete',
    next_at: inDays(4).toISOString(),
  });
  const { said } = await command(`explain ${id}`);
  expect(said).toContain(`deleted at: ${inDays(4).toISOString()}`);
  expect(said).toContain('now: nothing, because it is marked, and its day has not come');
  expect(said).toContain(`next: delete from ${inDays(4).toISOString()} on`);
  const part = await buildPart(world, id);
  expect((await operator.get(`${url}/${part.id}`)).body).toMatchObject({ reason: 'its parent decides', next_at: null });
});

test('a deletion is postponed, to later days only, and nobody is told twice', async () => {
  const { world } = billed;
  const id = await unpaid();
  const until = inDays(40).toISOString().slice(0, 10);
  expect(await command(`postpone ${id} --until ${until}`)).toMatchObject({
    isDone: false,
    said: expect.stringContaining('is not marked for deletion'),
  });
  await markSince(world, id, 3);
  expect(await command(`postpone ${id} --until ${until}`)).toMatchObject({ isDone: true });
  const at = new Date(`${until}T00:00:00Z`);
  expect(await settingsOf(world, id)).toMatchObject({ deletionNotBefore: at, deletionNotice: 'one_day' });
  expect((await command(`postpone ${id} --until ${inDays(20).toISOString()}`)).said).toContain(
    `is not deleted before ${at.toISOString()}; name a later time`,
  );
  await prove();
  const later = inDays(50).toISOString();
  expect((await operator.post(`${url}/${id}/postpone`, { until: later, reason })).body.done).toContain(later);
  expect(await noted(id)).toEqual([
    { operation: 'postpone', operator: expect.stringContaining('@'), reason },
    { operation: 'postpone', operator: `user:${person.user.id}`, reason },
  ]);
});

test('sparing takes a mark back, and keeps an organization from being marked', async () => {
  const { world } = billed;
  const id = await unpaid();
  await markSince(world, id, 3);
  await settingsOf(world, id, { deletionRequesterId: person.user.id });
  expect((await command(`spare ${id}`)).said).toContain('is not marked any more, and is spared for ever');
  expect(await settingsOf(world, id)).toMatchObject({
    markedForDeletionAt: null,
    deletionNotBefore: null,
    deletionNotice: null,
    deletionRequesterId: null,
    sparedUntil: new Date('9999-12-31T00:00:00Z'),
  });
  expect(await sparings(id)).toEqual([{ payload: { reason: 'operator' } }]);
  expect((await operator.get(`${url}/${id}`)).body).toMatchObject({
    reason: 'an operator spares it',
    next_at: new Date('9999-12-31T00:00:00Z').toISOString(),
  });
  await prove();
  const until = inDays(90).toISOString();
  expect((await operator.post(`${url}/${id}/spare`, { until, reason })).status).toBe(200);
  expect((await operator.get(`${url}/${id}`)).body).toMatchObject({ next_action: 'mark', next_at: until });
  expect(await sparings(id)).toHaveLength(1);
  expect((await noted(id)).map(({ operation }) => operation)).toEqual(['spare', 'spare']);
  const part = await buildPart(world, id);
  expect((await command(`spare ${part.id}`)).said).toContain('is never marked: its parent decides');
});

test('bad input is refused with the value and the bounds, and changes nothing', async () => {
  const { world } = billed;
  const id = await unpaid();
  await markSince(world, id, 3);
  const before = await settingsOf(world, id);
  for (const [line, message] of [
    [`explain nobody`, 'takes the id of an organization, not "nobody"'],
    [`list --within 0`, 'a whole number from 1 to 3650'],
    [`list --within=-1`, 'a whole number from 1 to 3650'],
    [`list --within 30d`, 'a whole number from 1 to 3650'],
    [`list --within 4000`, 'a whole number from 1 to 3650'],
    [`postpone ${id}`, 'takes --until DAY'],
    [`list ${id}`, 'takes options only'],
  ] as const)
    expect(() => readCommand(lifecycleTool, line.split(' ')), line).toThrow(message);
  expect(() => readCommand(lifecycleTool, ['spare', id])).toThrow('--reason says why');
  await prove();
  for (const [until, message] of [
    ['30d', 'must be a day such as 2027-01-31'],
    ['0', 'must be a day such as 2027-01-31'],
    ['-1', 'must be a day such as 2027-01-31'],
    ['2027-02-30', 'must be a day such as 2027-01-31'],
    ['2020-01-31', 'must be in the future'],
    [inDays(4000).toISOString(), 'must be at most 3650 days from now'],
  ] as const) {
    expect(await command(`postpone ${id} --until=${until}`)).toMatchObject({
      isDone: false,
      said: expect.stringContaining(message),
    });
    const answer = await operator.post(`${url}/${id}/postpone`, { until, reason });
    expectProblem(answer, 'invalid_input');
    expect(JSON.stringify(answer.body)).toContain(message);
  }
  expectProblem(await operator.post(`${url}/${id}/spare`, { until: '2020-01-31', reason }), 'invalid_input');
  expectProblem(await operator.post(`${url}/${id}/spare`, {}), 'invalid_input');
  for (const days of ['0', '-1', '30d', '4000'])
    expectProblem(await operator.get(`${url}?within_days=${days}`), 'invalid_input');
  for (const after of ['nothing', `2027-01-31/${id}`, `${new Date(0).toISOString()}/nobody`])
    expectProblem(await operator.get(`${url}?after=${after}`), 'invalid_input');
  const unknown = '01KG9ZT0H8N4P6S2V9X7Z3A5BC';
  expect(await command(`explain ${unknown}`)).toMatchObject({ isDone: false, said: expect.stringContaining(unknown) });
  expectProblem(await operator.get(`${url}/${unknown}`), 'not_found');
  expectProblem(await operator.post(`${url}/${unknown}/spare`, { reason }), 'not_found');
  const stranger = await signedIn(world, await buildPerson(world));
  for (const answer of [
    await stranger.get(url),
    await stranger.get(`${url}/${id}`),
    await stranger.post(`${url}/${id}/spare`, { reason }),
    await stranger.post(`${url}/${id}/postpone`, { until: inDays(30).toISOString(), reason }),
  ])
    expectProblem(answer, 'permission_denied');
  expect(await settingsOf(world, id)).toEqual(before);
});
