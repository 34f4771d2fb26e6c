import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { ApprovalGround } from '../kit/automation/approval-ground.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let ground: ApprovalGround;
let sam: Person;
let samClient: TestClient;
let annClient: TestClient;
let ids: { readonly assignment: string; readonly instance: string; readonly proposal: string };

beforeAll(async () => {
  world = await openWorld({ environment: { CORE_WORKFLOWS_ENABLED: 'true' } });
  const owner = await buildPerson(world);
  ground = new ApprovalGround(world, owner);
  sam = await buildPerson(world, { organization: owner.organization, role: 'member' });
  const ann = await buildPerson(world, { organization: owner.organization, role: 'member' });
  [samClient, annClient] = [await signedIn(world, sam), await signedIn(world, ann)];
  const team = await ground.group(ann);
  const held = await ground.task({ assigneeId: sam.user.id });
  await ground.show(held.id, team);
  const params = { targets: [{ type: 'GROUP' as const, id: team }], fields: ['status'] };
  const version = await ground.publish([{ key: 'ask', type: 'REQUEST_APPROVAL', params }]);
  const instance = await ground.hold(version, sam, held, { status: 'completed' });
  await ground.step(instance);
  const assignment = await ground.openAssignment(instance, ann);
  ids = { assignment, instance, proposal: (await ground.instance(instance)).proposalId ?? '' };
});
afterAll(() => world.close());

/** All actions about a workflow, with a body that fits. */
const calls = ({ assignment, instance, proposal }: typeof ids): readonly (readonly [string, object])[] => [
  ...['approve', 'reject', 'request-changes'].map(
    (verb) => [`/v1/workflow-assignments/${assignment}/${verb}`, { note: 'x' }] as const,
  ),
  ...['delegate', 'reassign'].map(
    (verb) => [`/v1/workflow-assignments/${assignment}/${verb}`, { user_id: sam.user.id }] as const,
  ),
  ...['cancel', 'force-complete'].map(
    (verb) => [`/v1/workflow-instances/${instance}/${verb}`, { reason: 'x' }] as const,
  ),
  [`/v1/workflow-proposals/task/${proposal}/edit`, { changes: { status: 'wont_do' } }],
  [`/v1/workflow-proposals/task/${proposal}/submit`, {}],
  [`/v1/workflow-proposals/task/${proposal}/withdraw`, {}],
];

const unchanged = async () => {
  expect((await ground.assignments(ids.instance)).map(({ status }) => status)).toEqual(['pending']);
  expect(await ground.instance(ids.instance)).toMatchObject({ status: 'waiting', round: 1 });
};

test('T-50, T-53: an owner of another organization gets the answer to ids of nothing', async () => {
  const stranger = await signedIn(world, await buildPerson(world));
  const unknown = { assignment: newId(), instance: newId(), proposal: newId() };
  const others = calls(unknown);
  for (const [n, [url, body]] of calls(ids).entries()) {
    const [otherUrl, otherBody] = others[n] as (typeof others)[number];
    const [real, random] = [await stranger.post(url, body), await stranger.post(otherUrl, otherBody)];
    expect([real.status, real.body.code], url).toEqual([404, 'not_found']);
    expect([random.status, random.body.code], url).toEqual([404, 'not_found']);
  }
  const preview = `/v1/workflow-proposals/task/${ids.proposal}/preview`;
  expect((await stranger.get(preview)).body.code).toBe('not_found');
  expect((await stranger.get('/v1/workflow-assignments/mine')).body.data).toEqual([]);
  await unchanged();
});

test('T-120: objects in the place of texts and ids are refused, and change nothing', async () => {
  for (const odd of [{ $ne: null }, { __raw: '1 = 1' }, ['x'], 7, true])
    for (const [url, body] of calls(ids)) {
      const [name] = Object.keys(body);
      if (name === undefined) continue;
      const client = url.includes('proposals') ? samClient : annClient;
      const answer = await client.post(url, { [name]: odd });
      expect([400, 403], `${url} ${JSON.stringify(odd)}: ${JSON.stringify(answer.body)}`).toContain(answer.status);
    }
  await unchanged();
});

test('T-121: names of prototypes among proposed values are refused, and change no prototype', async () => {
  const url = `/v1/workflow-proposals/task/${ids.proposal}/edit`;
  for (const name of ['__proto__', 'constructor', 'prototype', 'toString']) {
    const changes = JSON.parse(`{"${name}": {"status": "completed"}}`) as object;
    const answer = await samClient.post(url, { changes });
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
  }
  expect(({} as Record<string, unknown>)['status']).toBeUndefined();
  await unchanged();
});
