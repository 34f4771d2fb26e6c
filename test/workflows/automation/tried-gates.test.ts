import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Action, ApprovalAction, DefinitionDocument } from '#entities/automation/document/definition-document.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { seeded, timesOf } from '../../kit/depth.ts';
import { isSettled } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { recordTried } from '../../kit/tried.ts';
import { openWorld, type World } from '../../kit/world.ts';

const random = seeded('tried gates');
const changes = timesOf({ sample: 40, prove: 600 });

let world: World;
let admin: Person;
/** Makes the changes. */
let client: TestClient;

beforeAll(async () => {
  // An expression that takes longer on a busy machine would hold a change.
  world = await openWorld({
    worker: true,
    environment: { CORE_WORKFLOWS_ENABLED: 'true', CORE_WORKFLOWS_CEL_TIMEOUT: '60000' },
  });
  const owner = await buildPerson(world);
  admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

const approval = (key: string, fields: readonly string[] | null, more: Partial<ApprovalAction> = {}): Action => ({
  key,
  type: 'REQUEST_APPROVAL',
  params: { targets: [{ type: 'ROLE', id: 'admin' }], ...(fields && { fields }) },
  ...more,
});

const on = (expression?: string) => ({ operation: 'UPDATE' as const, ...(expression !== undefined && { expression }) });

const gates: readonly Pick<DefinitionDocument, 'triggers' | 'conditions' | 'actions'>[] = [
  { triggers: [on('object.status == "completed"')], actions: [approval('status', ['status'])] },
  {
    triggers: [on()],
    actions: [
      approval('status', ['status'], { when: 'proposed_changes.status == "completed"' }),
      approval('priority', ['priority'], { when: 'object.priority > old_object.priority' }),
    ],
  },
  // What only the whole change knows holds a field; its approval stays needed.
  {
    triggers: [on()],
    actions: [
      approval('status', ['status'], { when: '"title" in changed_fields && definition_id != ""' }),
      approval('priority', ['priority']),
    ],
  },
  // Whoever cannot evaluate it, asks.
  { triggers: [on('object.tags[1] == "urgent"')], actions: [approval('status', ['status'])] },
  {
    triggers: [on('"status" in changed_fields')],
    conditions: [{ expression: 'object.priority > 30' }],
    actions: [approval('both', ['status', 'priority']), approval('never', ['title'], { when: 'false' })],
  },
  { triggers: [{ operation: 'DELETE', expression: 'object.priority > 50' }], actions: [approval('deletion', null)] },
];

const statuses = ['open', 'in_progress', 'in_review', 'completed'] as const;
const values = () => ({
  title: `Title ${random.below(9)}`,
  status: random.pick(statuses),
  priority: random.below(100),
  tags: random.pick([[], ['urgent'], ['quiet', 'urgent']]),
});

function ok({ status, body }: TestAnswer) {
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
}

/** A random change of a record: the trial, and what is asked when it is made. */
async function compare(definitionId: string, isDeletion: boolean): Promise<boolean> {
  const before = values();
  // Of a made-up record nobody can say who may view it; this one is viewed by whoever is asked.
  const { id } = ok(await client.post('/v1/tasks', { ...before, assignee_id: admin.user.id }));
  // Some have the values that the record has already.
  const given = Object.fromEntries(
    Object.entries(values()).filter(([name]) => name !== 'tags' && (name === 'status' || random.chance(0.6))),
  );
  const change = isDeletion ? { operation: 'delete' } : { operation: 'update', changes: given };
  const tried = ok(await client.post(`/v1/workflow-definitions/${definitionId}/try`, { before, ...change }));
  const created = ok(
    await client.post(`/v1/workflow-definitions/${definitionId}/try`, { operation: 'create', changes: before }),
  );
  expect(created).toMatchObject({ starts: false, holds: false });
  const url = `/v1/tasks/${id}`;
  const made = await client.mutate(isDeletion ? { method: 'DELETE', url } : { method: 'PATCH', url, payload: given });
  ok(made);
  const place = JSON.stringify({ before, given, isDeletion, tried });
  // Other fields of a change are written.
  const isHeld = made.status === 202 || (made.body.held ?? []).length > 0;
  expect(tried.holds, place).toBe(isHeld);
  await eventually(() => isSettled(world));
  const started = await asOwner(world, 'select 1 from workflow_instances where subject_id = $1', [id]);
  expect(started, place).toHaveLength(tried.starts ? 1 : 0);
  if (!isHeld) {
    expect(tried.actions, place).toEqual([]);
    return false;
  }
  const asked = await eventually(async () => {
    const rows = await asOwner<{ key: string; people: string[] }>(
      world,
      `select a.action_key as key, array_agg(a.user_id::text) as people from workflow_assignments a
       join workflow_instances i on i.id = a.instance_id where i.subject_id = $1 group by a.action_key order by 1`,
      [id],
    );
    return rows.length > 0 && rows;
  });
  const expected = tried.actions.map(({ key, user_ids: people }: { key: string; user_ids: string[] }) => ({
    key,
    people,
  }));
  expect(asked, place).toEqual(expected.toSorted((a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1)));
  return true;
}

test('a trial says of random changes whether a gate holds them, which approvals they need and who is asked', async () => {
  let holds = 0;
  for (const [n, gate] of gates.entries()) {
    const document = { schemaType: 'Task', ...gate };
    const body = { name: `Gate ${n}`, record_kind: 'task', document };
    const url = '/v1/workflow-definitions';
    const { id } = ok(await client.post(url, body));
    ok(await client.post(`${url}/${id}/publish`, {}));
    const isDeletion = gate.triggers[0]?.operation === 'DELETE';
    for (let left = changes / gates.length; left > 0; left--) if (await compare(id, isDeletion)) holds++;
    ok(await client.post(`${url}/${id}/retire`, {}));
  }
  // Some are held and some are not.
  expect(holds).toBeGreaterThan(changes / 10);
  expect(holds).toBeLessThan(changes);
  recordTried('changes that gates hold, against trials', changes, 600);
});
