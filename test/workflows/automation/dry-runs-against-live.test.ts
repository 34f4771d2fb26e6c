import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Action, DefinitionDocument, Target, Trigger } from '#entities/automation/document/definition-document.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { seeded, timesOf } from '../../kit/depth.ts';
import { isSettled } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { recordTried } from '../../kit/tried.ts';
import { openWorld, type World } from '../../kit/world.ts';

const random = seeded('dry runs against live');
const changes = timesOf({ sample: 80, prove: 1_000 });

let world: World;
/** The owner, the admin, and two members. */
let people: readonly Person[];
let clients: readonly TestClient[];
let groupIds: string[];
/** Ids of the definitions, all of which are published. */
let definitions: readonly string[];

beforeAll(async () => {
  // An expression that takes longer on a busy machine would be a failure.
  world = await openWorld({
    worker: true,
    environment: {
      CORE_WORKFLOWS_ENABLED: 'true',
      CORE_WORKFLOWS_CEL_TIMEOUT: '60000',
      CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true',
    },
  });
  const owner = await buildPerson(world);
  const join = (role: 'admin' | 'member') => buildPerson(world, { organization: owner.organization, role });
  people = [owner, await join('admin'), await join('member'), await join('member')];
  const signInAll = () => Promise.all(people.map((person) => signedIn(world, person)));
  clients = await signInAll();
  const made = async (url: string, body: object) => ok(await clients[0]!.post(url, body)).body.id as string;
  groupIds = [];
  for (let n = 0; n < 6; n++) groupIds.push(await made('/v1/groups', { name: `Group ${n}` }));
  const team = await made('/v1/groups', { name: 'Team' });
  for (const { user } of people.slice(2)) await made('/v1/group-memberships', { group_id: team, user_id: user.id });
  const urgent = await made('/v1/tags', { name: 'urgent' });
  // Dry runs of one day do not see what was there before.
  world.clock.advance(2 * 86_400_000);
  clients = await signInAll();
  const url = '/v1/workflow-definitions';
  const ids: string[] = [];
  for (const [n, document] of documentsWith(urgent, team).entries())
    ids.push(await made(url, { name: `Definition ${n}`, record_kind: kindOf(document), document }));
  definitions = ids;
  for (const id of definitions) ok(await clients[0]!.post(`${url}/${id}/publish`, {}));
});
afterAll(() => world.close());

function ok(answer: TestAnswer): TestAnswer {
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer;
}

const kindOf = ({ schemaType }: DefinitionDocument) => `${schemaType.slice(0, 1).toLowerCase()}${schemaType.slice(1)}`;

const role = (id: string): Target => ({ type: 'ROLE', id });
const resolver = (key: string): Target => ({ type: 'RESOLVER', resolver_key: key });
const tell = (targets: readonly Target[], when?: string): Action => ({
  key: 'tell',
  type: 'NOTIFY',
  params: { targets, title: 'Changed' },
  ...(when !== undefined && { when }),
});
const look = (targets: readonly Target[], more: object = {}): Action => ({
  key: 'look',
  type: 'REQUEST_REVIEW',
  params: { targets, required_count: 1, ...more },
});

/**
 * Definitions of several kinds and triggers. Those that ask people who see some records only are about records that stay: nobody can say
 * who saw a record that is deleted.
 */
function documentsWith(tagId: string, groupId: string): DefinitionDocument[] {
  const [, , ann, ben] = people.map(({ user }): Target => ({ type: 'USER', id: user.id }));
  const members = [ann, ben] as Target[];
  const group: Target = { type: 'GROUP', id: groupId };
  const stays = { conditions: [{ expression: 'object.title.startsWith("stays")' }] };
  const on = (operation: Trigger['operation'], more: Partial<Trigger> = {}): Trigger => ({ operation, ...more });
  const task = (triggers: readonly Trigger[], actions: readonly Action[], more: object = {}): DefinitionDocument => ({
    schemaType: 'Task',
    approvalTiming: 'POST_COMMIT',
    triggers,
    actions,
    ...more,
  });
  return [
    task([on('CREATE')], [tell([role('owner')])]),
    task([on('CREATE', { expression: 'object.priority > 50' })], [look([role('admin')])], stays),
    task([on('UPDATE', { fields: ['status'] })], [look([resolver('ASSIGNEE'), group])], stays),
    task(
      [on('UPDATE', { fields: ['status'], expression: 'object.status == "completed" && old_object.status != "open"' })],
      [tell(members), look(members, { escalate_to: [role('admin')] })],
      stays,
    ),
    task([on('UPDATE', { fields: ['priority', 'title'] })], [tell([resolver('OBJECT_CREATOR')])], stays),
    task(
      [on('UPDATE', { expression: 'object.priority > old_object.priority + 20' })],
      [
        tell([role('owner')], 'object.priority > 60'),
        { key: 'agree', type: 'REQUEST_APPROVAL', params: { targets: [role('owner')], fields: ['priority'] } },
      ],
      stays,
    ),
    task([on('UPDATE', { selector: { tagIds: [tagId] } })], [tell([role('admin'), role('member')])], stays),
    task(
      [on('UPDATE', { fields: ['tags'], expression: 'object.tags[1] == "urgent"' })],
      [look([role('owner')])],
      stays,
    ),
    task([on('DELETE')], [tell(members)]),
    task([on('DELETE', { expression: 'object.status == "completed"' })], [look([...members, role('owner')])]),
    task(
      [on('CREATE'), on('DELETE'), on('UPDATE', { fields: ['details'] })],
      [tell([role('owner')], 'user_id != null && event_type != "CREATE"')],
      { conditions: [{ expression: 'size(object.tags) < 2' }, { expression: 'event_time > object.created_at' }] },
    ),
    { schemaType: 'GroupMembership', triggers: [on('CREATE'), on('DELETE')], actions: [tell([role('owner')])] },
    {
      schemaType: 'GroupMembership',
      triggers: [on('UPDATE', { fields: ['role'], expression: 'object.role == "admin"' })],
      actions: [look([resolver('USER')])],
    },
    {
      schemaType: 'WebhookEndpoint',
      triggers: [on('UPDATE', { fields: ['name'] }), on('DELETE')],
      conditions: [{ expression: '!("description" in changed_fields) || object.description != null' }],
      actions: [look([role('admin')])],
    },
  ];
}

interface Known {
  readonly url: string;
  readonly id: string;
  readonly stays: boolean;
  /** Those who may change it. */
  readonly by: readonly TestClient[];
}

const tagSets = [[], ['urgent'], ['quiet', 'urgent'], ['quiet']] as const;
const statuses = ['open', 'in_progress', 'in_review', 'completed', 'wont_do'] as const;

/** Records that were created and not deleted. */
let known: Known[] = [];
const memberships = new Set<string>();

const values = () => ({
  status: random.pick(statuses),
  priority: random.below(100),
  tags: [...random.pick(tagSets)],
  details: random.chance(0.5) ? null : `details ${random.below(9)}`,
});

async function create(): Promise<Known> {
  const n = random.below(10);
  const [owner] = clients as [TestClient];
  if (n === 0) {
    const body = {
      name: `Endpoint ${known.length} ${random.below(1_000_000)}`,
      url: 'http://127.0.0.1:9/',
      topics: ['note.created'],
      scopes: ['note:read'],
    };
    const { id } = ok(await owner.post('/v1/webhook-endpoints', body)).body;
    return { url: '/v1/webhook-endpoints', id, stays: false, by: clients.slice(0, 2) };
  }
  const pair = groupIds.flatMap((groupId) => people.slice(2).map(({ user }) => [groupId, user.id] as const));
  const free = pair.filter((one) => !memberships.has(one.join(' ')));
  const [groupId, userId] = random.pick(free.length > 0 ? free : [['', ''] as const]);
  if (n < 3 && groupId !== '') {
    memberships.add(`${groupId} ${userId}`);
    const { id } = ok(await owner.post('/v1/group-memberships', { group_id: groupId, user_id: userId })).body;
    return { url: '/v1/group-memberships', id, stays: true, by: [owner] };
  }
  const stays = random.chance(0.7);
  const [maker, assignee] = [random.below(people.length), random.below(people.length)];
  const assigned = random.chance(0.6) ? { assignee_id: people[assignee]!.user.id } : {};
  const body = { title: `${stays ? 'stays' : 'goes'} ${random.below(99)}`, ...assigned, ...values() };
  const { id } = ok(await clients[maker]!.post('/v1/tasks', body)).body;
  const by = ('assignee_id' in assigned ? [maker, assignee] : [maker]).map((place) => clients[place]!);
  return { url: '/v1/tasks', id, stays, by };
}

async function change({ url, id, stays, by: editors }: Known): Promise<void> {
  const by = random.pick(editors);
  if (!stays && random.chance(0.25)) {
    // An assignee deletes no task of another person.
    ok(await editors[0]!.mutate({ method: 'DELETE', url: `${url}/${id}` }));
    known = known.filter((one) => one.id !== id);
    return;
  }
  const all: Readonly<Record<string, unknown>> =
    url === '/v1/tasks'
      ? values()
      : url === '/v1/group-memberships'
        ? { role: random.pick(['admin', 'member']) }
        : { name: `Endpoint ${random.below(1_000_000)}`, description: random.pick([null, 'some', 'more']) };
  const names = Object.keys(all).filter((_name, n) => n === 0 || random.chance(0.5));
  const payload = Object.fromEntries(names.map((name) => [name, all[name]]));
  ok(await by.mutate({ method: 'PATCH', url: `${url}/${id}`, payload }));
}

const organizationId = () => people[0]!.organization.id;

/** A round: each record is changed once at most, because a record has one open workflow of each definition. */
async function round(count: number): Promise<void> {
  const existing = random.shuffled(known).slice(0, Math.ceil(count * 0.75));
  for (const one of existing) {
    world.clock.advance(50);
    await change(one);
  }
  for (let n = existing.length; n < count; n++) {
    world.clock.advance(50);
    known.push(await create());
  }
  await settled();
  await cancelAll();
}

const open = () =>
  asOwner<{ id: string; status: string }>(
    world,
    'select id, status from workflow_instances where organization_id = $1 and ended_at is null',
    [organizationId()],
  );

/** Until everybody is asked, and what asks nobody has ended. */
const settled = () =>
  eventually(async () => (await isSettled(world)) && (await open()).every(({ status }) => status === 'waiting'));

async function cancelAll(): Promise<void> {
  for (const { id } of await open())
    ok(await clients[0]!.post(`/v1/workflow-instances/${id}/cancel`, { reason: 'The next round.' }));
  await eventually(async () => (await isSettled(world)) && (await open()).length === 0);
}

interface Start {
  readonly recordId: string;
  readonly at: string;
  /** People by the keys of the actions that asked or notified somebody. */
  readonly people: Readonly<Record<string, readonly string[]>>;
}

/** What a definition has started, and whom it has asked. */
async function startsOf(definitionId: string): Promise<Start[]> {
  const rows = await asOwner<{ id: string; recordId: string; at: string }>(
    world,
    `select i.id, i.subject_id as "recordId", to_json(h.recorded_at) #>> '{}' as at from workflow_instances i
     join history h on h.entity_id = i.subject_id and h.record_version = (i.context -> 'change' ->> 'recordVersion')::int
     where i.definition_id = $1 order by h.recorded_at, h.id`,
    [definitionId],
  );
  const asked = await asOwner<{ id: string; key: string; people: string[] }>(
    world,
    `select e.instance_id as id, e.action_key as key, array_agg(e.person_id::text) as people from workflow_events e
     join workflow_instances i on i.id = e.instance_id
     where i.definition_id = $1 and e.type = 'assignment_created' group by e.instance_id, e.action_key
     union all
     select e.entity_id, e.payload ->> 'actionKey', array(select jsonb_array_elements_text(e.payload -> 'userIds')) from events e
     join workflow_instances i on i.id = e.entity_id
     where i.definition_id = $1 and e.topic = 'workflow_instance.messaged'`,
    [definitionId],
  );
  return rows.map(({ id, recordId, at }) => {
    const own = asked.filter((one) => one.id === id).map((one) => [one.key, one.people.toSorted()] as const);
    return { recordId, at, people: Object.fromEntries(own.toSorted(([one], [other]) => (one < other ? -1 : 1))) };
  });
}

interface ReportedStart {
  readonly recordId: string;
  readonly at: string;
  readonly actions: readonly { readonly key: string; readonly userIds: readonly string[] }[];
}

function reported({ recordId, at, actions }: ReportedStart): Start {
  const own = actions.filter(({ userIds }) => userIds.length > 0).map(({ key, userIds }) => [key, userIds] as const);
  return { recordId, at, people: Object.fromEntries(own.toSorted(([one], [other]) => (one < other ? -1 : 1))) };
}

function countsOf(starts: readonly Start[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const id of starts.flatMap((start) => Object.values(start.people).flat())) counts[id] = (counts[id] ?? 0) + 1;
  return counts;
}

async function dryRunOf(definitionId: string) {
  const { body } = ok(await clients[0]!.post(`/v1/workflow-definitions/${definitionId}/dry-run`, { days: 1 }));
  return eventually(async () => {
    const run = (await clients[0]!.get(`/v1/workflow-dry-runs/${body.id}`)).body;
    return run.status !== 'running' && run;
  });
}

test('dry runs over random changes find exactly what has started, whom it has asked, and what has failed', async () => {
  for (let left = changes; left > 0; left -= 40) await round(Math.min(40, left));
  let starts = 0;
  let failures = 0;
  for (const [n, definitionId] of definitions.entries()) {
    const live = await startsOf(definitionId);
    const run = await dryRunOf(definitionId);
    const place = `definition ${n}`;
    expect(run.status, place).toBe('completed');
    expect(run.report.starts.map(reported), place).toEqual(live.slice(0, 100));
    expect(run.starts, place).toBe(live.length);
    expect(run.report.people, place).toEqual(countsOf(live));
    const failed = await asOwner(
      world,
      `select 1 from events where topic = 'workflow_definition.evaluation_failed' and entity_id = $1`,
      [definitionId],
    );
    expect(run.failures, place).toBe(failed.length);
    starts += live.length;
    failures += failed.length;
  }
  // Most definitions start, some expressions fail, and not everything starts everything.
  expect(starts).toBeGreaterThan(changes / 4);
  expect(failures).toBeGreaterThan(0);
  recordTried('changes that start workflows, against dry runs', changes, 1_000);
});
