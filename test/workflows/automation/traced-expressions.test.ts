import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Action } from '#entities/automation/document/definition-document.ts';
import { publishedVersion } from '../../kit/automation/published-version.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    environment: {
      CORE_WORKFLOWS_ENABLED: 'true',
      CORE_WORKFLOWS_CEL_TIMEOUT: '60000',
      CORE_WORKFLOWS_CEL_TRACKSTATE: 'true',
    },
  });
});
afterAll(() => world.close());

let owner: Person;
let client: TestClient;
beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});

interface Traced {
  readonly expression: string;
  readonly parts: readonly { readonly start: number; readonly end: number; readonly value: unknown }[];
}
interface Entry {
  readonly type: string;
  readonly action_key: string | null;
  readonly details: (Record<string, unknown> & { readonly expressions?: readonly Traced[] }) | null;
}

async function journal(): Promise<Entry[]> {
  const { status, body } = await client.get('/v1/workflow-events?order_by=created_at');
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
}

/** The journal of a new task whose status somebody changes, once it has the entry. */
async function changed(type: string, values: object = {}): Promise<Entry[]> {
  const { body } = await client.post('/v1/tasks', { title: 'Review', priority: 70, ...values });
  await client.mutate({ method: 'PATCH', url: `/v1/tasks/${body.id}`, payload: { status: 'completed' } });
  return eventually(async () => {
    const entries = await journal();
    return entries.some((entry) => entry.type === type) && entries;
  });
}

/** Parts of an expression as text, with their values. */
function partsOf(entries: readonly Entry[], type: string, expression: string): Record<string, unknown> {
  const traced = entries
    .filter((entry) => entry.type === type)
    .flatMap(({ details }) => details?.expressions ?? [])
    .find((one) => one.expression === expression);
  return Object.fromEntries(
    (traced?.parts ?? []).map(({ start, end, value }) => [expression.slice(start, end), value]),
  );
}

const isHigh = 'object.priority > 50 && old_object.status == "open"';
const title = '"Done: " + object.title';
const tell = {
  key: 'tell',
  type: 'NOTIFY',
  params: { targets: [{ type: 'ROLE', id: 'owner' }], title: { expr: title } },
} as const satisfies Action;
const publish = (actions: readonly Action[], expression = isHigh) =>
  publishedVersion(world, owner, {
    schemaType: 'Task',
    triggers: [{ operation: 'UPDATE', fields: ['status'], expression }],
    actions,
  });

test('values of parts stand in the journal while trackstate is on, and not while it is off', async () => {
  const when = 'object.priority > 90';
  await publish([{ ...tell, key: 'never', when }, tell]);
  const entries = await changed('workflow_completed');
  expect(partsOf(entries, 'workflow_triggered', isHigh)).toMatchObject({
    'object.priority': 70,
    'object.priority > 50': true,
    'old_object.status': 'open',
    [isHigh]: true,
  });
  expect(partsOf(entries, 'action_skipped', when)).toMatchObject({ 'object.priority': 70, [when]: false });
  expect(partsOf(entries, 'action_completed', title)).toMatchObject({ [title]: 'Done: Review' });

  await world.reconfigure({ CORE_WORKFLOWS_CEL_TRACKSTATE: undefined });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  await publish([tell]);
  const plain = await changed('workflow_completed');
  expect(plain.map(({ type }) => type)).toEqual(['workflow_triggered', 'action_completed', 'workflow_completed']);
  expect(JSON.stringify(plain)).not.toContain('expressions');
  await world.reconfigure({ CORE_WORKFLOWS_CEL_TRACKSTATE: 'true' });
  shows('workflows.cel.trackstate');
});

test('a held change has the values with which its gate and its approvals decided', async () => {
  const when = 'proposed_changes["status"] == "completed"';
  const member = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  const params = { targets: [{ type: 'USER' as const, id: member.user.id }], fields: ['status'] };
  await publish([{ key: 'agree', type: 'REQUEST_APPROVAL', when, params }]);
  // Who is asked sees the task.
  const entries = await changed('assignment_created', { assignee_id: member.user.id });
  expect(partsOf(entries, 'workflow_triggered', isHigh)).toMatchObject({ 'object.priority': 70, [isHigh]: true });
  expect(partsOf(entries, 'workflow_triggered', when)).toMatchObject({ [when]: true });
  expect(partsOf(entries, 'round_started', when)).toMatchObject({ 'proposed_changes["status"]': 'completed' });
});

test('an expression that fails leaves the values that it had', async () => {
  const failing = 'object.title + object.tags[7]';
  await publish([{ ...tell, params: { ...tell.params, title: { expr: failing } } }]);
  const entries = await changed('action_failed');
  expect(partsOf(entries, 'action_failed', failing)).toMatchObject({ 'object.title': 'Review', 'object.tags': [] });
});

test('the values have 16 KB at most, and any value can be stored', async () => {
  const odd = String.raw`size(object.tags.map(t, t + "\u0000")) > 0 && 9007199254740993 > 1 && -1.0 / 0.0 < double(object.priority)`;
  const many = Array.from({ length: 8 }, (_, n) => `object.details != "${n}"`);
  await publish([tell], [odd, ...many].join(' && '));
  const details = 'ä'.repeat(6_000);
  const entries = await changed('workflow_completed', { tags: ['red'], details });
  const [triggered] = await asOwner<{ size: number }>(
    world,
    `select max(octet_length(details::text)) as size from workflow_events where organization_id = $1`,
    [owner.organization.id],
  );
  expect(triggered?.size).toBeLessThan(17_000);
  const parts = partsOf(entries, 'workflow_triggered', [odd, ...many].join(' && '));
  expect(Object.keys(parts).length).toBeGreaterThan(5);
  expect(parts['-1.0 / 0.0']).toBe('-Infinity');
});

test('values of parts have no secret of a record', async () => {
  const expression = 'object.name != "" && object != old_object';
  await publishedVersion(world, owner, {
    schemaType: 'WebhookEndpoint',
    triggers: [{ operation: 'UPDATE', expression }],
    actions: [{ ...tell, params: { ...tell.params, title: 'Changed' } }],
  });
  await world.reconfigure({ CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true' });
  const body = { name: 'Endpoint', url: 'http://127.0.0.1:9/', topics: ['note.created'], scopes: ['note:read'] };
  const made = await client.post('/v1/webhook-endpoints', body);
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const secret = made.body.secret as string;
  expect(secret).toContain('whsec_');
  await client.mutate({ method: 'PATCH', url: `/v1/webhook-endpoints/${made.body.id}`, payload: { name: 'Other' } });
  await eventually(async () => (await journal()).some(({ type }) => type === 'workflow_completed'));
  const entries = await journal();
  expect(JSON.stringify(entries)).toContain('Other');
  expect(JSON.stringify(entries)).not.toContain(secret.slice(6));
  expect(JSON.stringify(entries)).not.toContain('"secret"');
});
