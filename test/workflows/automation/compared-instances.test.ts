import { afterAll, beforeAll, expect, test } from 'vitest';
import { workflowAssignment, workflowInstance } from '#entities/index.ts';
import { verifyInstallation } from '#tools/commands/verify.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { publishedVersion } from '../../kit/automation/published-version.ts';
import { buildPerson } from '../../kit/people.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  // What verify finds here was planted.
  world = await openWorld({ skipVerify: true });
});
afterAll(() => world.close());

test('verify reports instances that contradict their status, their assignments and Temporal', async () => {
  const person = await buildPerson(world);
  const { id: organizationId } = person.organization;
  const { id: versionId, definitionId } = await publishedVersion(world, person, {
    schemaType: 'Task',
    triggers: [{ operation: 'UPDATE' }],
    actions: [{ key: 'look', type: 'REQUEST_REVIEW', params: { targets: [{ type: 'ROLE', id: 'owner' }] } }],
  });
  const create = (subjectId: string) =>
    asSystem(world, organizationId, async (data) => {
      const openKey = `${definitionId}/${subjectId}`;
      const instance = { organizationId, definitionId, versionId, recordKind: 'task', subjectId, openKey };
      const { id: instanceId } = await data.create(workflowInstance, { ...instance, status: 'waiting' });
      const asked = { organizationId, instanceId, actionKey: 'look', userId: person.user.id };
      const { id: assignmentId } = await data.create(workflowAssignment, asked);
      return { instanceId, assignmentId };
    });
  const [open, ended, unended] = [await create('open'), await create('ended'), await create('unended')];
  const verify = async () => {
    const lines = await verifyInstallation(world.runtime, { isQuiet: false });
    return lines.filter((line) => line.includes('instance ')).toSorted();
  };
  expect(await verify()).toEqual([]);
  await asOwner(world, `update workflow_instances set status = 'completed', ended_at = now() where id = $1`, [
    ended.instanceId,
  ]);
  await asOwner(world, `update workflow_instances set status = 'rejected' where id = $1`, [unended.instanceId]);
  world.clock.advance(120_000);
  expect(await verify()).toEqual(
    [
      `assignment ${ended.assignmentId} is pending, but its instance ${ended.instanceId} has ended`,
      `instance ${unended.instanceId} has the status rejected and no end`,
      ...[open, unended].map(
        ({ instanceId }) =>
          `instance ${instanceId} is open, but its workflow ${world.name}/workflow/${instanceId} is MISSING`,
      ),
    ].toSorted(),
  );
});
