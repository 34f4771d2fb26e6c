import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Action, DefinitionDocument } from '#entities/automation/document/definition-document.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { ApprovalGround } from '../../kit/automation/approval-ground.ts';
import { publishGate } from '../../kit/automation/publish-gate.ts';
import { publishedVersion } from '../../kit/automation/published-version.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let [ann, sam, admin] = [] as unknown as [Person, Person, Person];
let [samClient, adminClient] = [] as unknown as [TestClient, TestClient];
let taskId: string;

beforeAll(async () => {
  // Expressions of a busy machine take longer than those of a server.
  const environment = { CORE_WORKFLOWS_ENABLED: 'true', CORE_WORKFLOWS_CEL_TIMEOUT: '60000' };
  world = await openWorld({ worker: true, environment });
});
afterAll(() => world.close());

beforeEach(async () => {
  owner = await buildPerson(world);
  const { organization } = owner;
  ann = await buildPerson(world, { organization, role: 'member' });
  sam = await buildPerson(world, { organization, role: 'member' });
  admin = await buildPerson(world, { organization, role: 'admin' });
  samClient = await signedIn(world, sam);
  adminClient = await signedIn(world, admin);
  const task = { title: 'Rotate the keys', details: 'in the safe', priority: 1, assignee_id: sam.user.id };
  taskId = (await samClient.post('/v1/tasks', task)).body.id;
});

const patch = (payload: object) => samClient.mutate({ method: 'PATCH', url: `/v1/tasks/${taskId}`, payload });

/** An approval by everybody of the team, who see the task. */
async function approvals(
  ...given: readonly { readonly key: string; readonly fields: string[]; readonly when?: string }[]
) {
  const ground = new ApprovalGround(world, owner);
  const team = await ground.group(ann);
  await ground.show(taskId, team);
  const actions = given.map(({ key, fields, when }): Action => {
    const params = { fields, targets: [{ type: 'GROUP' as const, id: team }], required_count: 1 };
    return { key, type: 'REQUEST_APPROVAL', params, ...(when !== undefined && { when }) };
  });
  const triggers: DefinitionDocument['triggers'] = [{ operation: 'UPDATE', fields: ['status', 'priority'] }];
  await publishGate(world, owner.organization.id, { schemaType: 'task', triggers, actions });
}

const instances = () =>
  asOwner<{ readonly status: string; readonly reason: string | null }>(
    world,
    'select status, reason from workflow_instances where organization_id = $1 order by id',
    [owner.organization.id],
  );

/** Keys of the actions that ask in a round. */
const askedIn = (round: number) =>
  eventually(async () => {
    const rows = await asOwner<{ readonly key: string }>(
      world,
      `select distinct a.action_key as key from workflow_assignments a join workflow_instances i on i.id = a.instance_id
        where a.organization_id = $1 and a.round = $2 and i.status = 'waiting' order by key`,
      [owner.organization.id, round],
    );
    return rows.length > 0 && rows.map(({ key }) => key);
  });

test('the approvals of a held change are those whose conditions the proposed values meet, in each round', async () => {
  await approvals(
    { key: 'closing', fields: ['status'], when: `object.status == 'completed' && old_object.status == 'open'` },
    { key: 'urgent', fields: ['priority'], when: `object.priority > 50 && 'priority' in changed_fields` },
    { key: 'usual', fields: ['status', 'priority'] },
  );
  await patch({ status: 'completed' });
  expect(await askedIn(1)).toEqual(['closing', 'usual']);
  await patch({ priority: 90 });
  expect(await askedIn(2)).toEqual(['closing', 'urgent', 'usual']);
  await patch({ status: 'wont_do' });
  expect(await askedIn(3)).toEqual(['urgent', 'usual']);
});

test('an approval whose condition cannot be evaluated is needed', async () => {
  await approvals(
    { key: 'closing', fields: ['status'], when: '1 / (object.priority - 1) > 0' },
    { key: 'usual', fields: ['status', 'priority'] },
  );
  await patch({ status: 'completed' });
  expect(await askedIn(1)).toEqual(['closing', 'usual']);
});

test.each(['UPDATE', 'DELETE'] as const)(
  'an action gets no values of a record that its publisher may not view (%s)',
  async (operation) => {
    const values = { title: 'Copy', details: { expr: 'object.details' }, assignee_id: admin.user.id };
    const actions: Action[] = [
      {
        key: 'literal',
        type: 'CREATE_OBJECT',
        params: { object_type: 'Task', fields: { title: 'A task has changed' } },
      },
      { key: 'copy', type: 'CREATE_OBJECT', params: { object_type: 'Task', fields: values } },
    ];
    await publishedVersion(world, admin, { schemaType: 'Task', triggers: [{ operation }], actions });
    expect((await adminClient.get(`/v1/tasks/${taskId}`)).status).toBe(404);
    if (operation === 'UPDATE') await patch({ priority: 7 });
    else await samClient.mutate({ method: 'DELETE', url: `/v1/tasks/${taskId}` });
    const [failing] = await eventually(async () => {
      const rows = await instances();
      return rows[0]?.status === 'failing' && rows;
    });
    expect(failing?.reason).toContain('may not view this Task');
    const { data } = (await adminClient.get('/v1/tasks?first=50')).body;
    expect(data.map(({ title }: { title: string }) => title)).toContain('A task has changed');
    expect(JSON.stringify(data)).not.toContain('in the safe');
  },
);
