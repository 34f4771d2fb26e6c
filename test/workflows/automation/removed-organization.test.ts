import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApprovalTeam } from '../../kit/automation/approval-team.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { wakeSignalName } from '#workflows/automation/run-workflow-instance.contract.ts';
import { openWorld, type World } from '../../kit/world.ts';
import type { RunningWorker } from '#worker/start-worker.ts';

let world: World;
let removing: RunningWorker | undefined;

beforeAll(async () => {
  // Without the queue of removals, until a test adds it.
  const worker = ['workflows', 'events', 'automation'];
  world = await openWorld({ worker, environment: { CORE_WORKFLOWS_ENABLED: 'true' } });
});
afterAll(async () => {
  await removing?.stop();
  // It compares rows, events and workflows.
  await world.close();
});

const kinds = [
  'workflow_definitions',
  'workflow_versions',
  'workflow_instances',
  'workflow_assignments',
  'workflow_events',
  'task_proposals',
] as const;

/** Numbers of the live rows of an organization, by table. */
async function rowsOf(organizationId: string): Promise<Record<string, number>> {
  const counts = kinds.map(
    (table) => `(select count(*)::int from ${table} where organization_id = $1 and deleted_at is null) as ${table}`,
  );
  const [row] = await asOwner<Record<string, number>>(world, `select ${counts.join(', ')}`, [organizationId]);
  return row ?? {};
}

const none = Object.fromEntries(kinds.map((table) => [table, 0]));

const remove = async ({ owner }: ApprovalTeam): Promise<void> => {
  const url = `/v1/organizations/${owner.organization.id}`;
  expect((await owner.client.mutate({ method: 'DELETE', url })).status).toBe(204);
};

const statusOf = async (team: ApprovalTeam, instanceId: string) => (await team.run(instanceId).describe()).status.name;

test('a workflow that is woken after the deletion does nothing more, although its rows are still there', async () => {
  const team = await ApprovalTeam.open(world);
  await team.publish();
  await team.held();
  const { instance_id: id } = await team.asked(team.ann);
  await remove(team);
  await team.run(id).signal(wakeSignalName);
  await eventually(async () => (await statusOf(team, id)) === 'COMPLETED');
  expect(await rowsOf(team.owner.organization.id)).toMatchObject({ workflow_instances: 1, task_proposals: 1 });
  removing = await world.startWorker(['maintenance']);
  await eventually(async () => expect(await rowsOf(team.owner.organization.id)).toEqual(none) ?? true);
});

test('the removal of an organization ends its workflows, and leaves nothing of them', async () => {
  const [team, other] = [await ApprovalTeam.open(world), await ApprovalTeam.open(world)];
  const look = { key: 'look', type: 'REQUEST_REVIEW', params: { targets: [team.group], due_in: '5d' } } as const;
  await team.publish();
  const reviewed = await team.publish({}, { triggers: [{ operation: 'UPDATE', fields: ['title'] }], actions: [look] });
  await other.publish();
  await team.held();
  await other.held();
  expect((await team.change({ title: 'Rotate all keys' })).status).toBe(200);
  await team.instance(reviewed, 'waiting');
  const open = await asOwner<{ id: string }>(
    world,
    'select id from workflow_instances where organization_id = $1 and ended_at is null',
    [team.owner.organization.id],
  );
  expect(open).toHaveLength(2);
  for (const { id } of open) await eventually(async () => (await statusOf(team, id)) === 'RUNNING');
  const { instance_id: othersId } = await other.asked(other.ann);

  await remove(team);
  for (const one of open) await eventually(async () => (await statusOf(team, one.id)) !== 'RUNNING');
  await eventually(async () => expect(await rowsOf(team.owner.organization.id)).toEqual(none) ?? true);

  // Those of others continue.
  expect(await statusOf(other, othersId)).toBe('RUNNING');
  await other.approve(other.ann, other.ben);
  await eventually(async () => (await other.task())['status'] === 'completed');
});
