import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createOrganizationsActivities } from '#activities/organizations/organizations-activities.ts';
import { membership } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { settingsOf } from '../../kit/billing/unpaid-organization.ts';
import { eventually } from '../../kit/eventually.ts';
import { mailsTo, unfolded } from '../../kit/mailbox.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPart, buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

const dayMs = 86_400_000;

let world: World;
beforeAll(async () => {
  world = await openWorld({ worker: true });
});
afterAll(() => world.close());

let owner: Person;
let client: TestClient;
let url: string;
beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  url = `/v1/organizations/${owner.organization.id}`;
});

const inDays = (days: number) => new Date(world.clock.now().getTime() + days * dayMs);
const announce = (at: string, by = client) =>
  by.mutate({ method: 'DELETE', url: `${url}?not_before=${encodeURIComponent(at)}` });

const eventsOf = (id: string) =>
  asOwner<{ topic: string; payload: object }>(
    world,
    `select topic, payload from events where entity_id = $1 and topic in ('organization.marked_for_deletion', 'organization.spared', 'organization.deleted') order by occurred_at, id`,
    [id],
  );

const removalsOf = (id: string) =>
  asOwner<{ requester: string | null }>(
    world,
    'select requester_id as requester from organization_removals where removed_organization_id = $1',
    [id],
  );

/** As if its time had come. */
async function comes(id: string): Promise<void> {
  await settingsOf(world, id, { deletionNotBefore: inDays(-1) });
  await asOwner(world, 'update announced_deletions set due_at = $2 where id = $1', [id, inDays(-1)]);
}

test('the deletion of an archived organization is announced, withdrawn and comes', async () => {
  const { id } = owner.organization;
  const archived = await client.mutate({ method: 'PATCH', url, payload: { is_archived: true } });
  expect(archived.status).toBe(200);
  expectProblem(
    await client.mutate({
      method: 'PATCH',
      url: `/v1/organization-settings/${(await settingsOf(world, id)).id}`,
      payload: { billing_city: 'Wien' },
    }),
    'organization_archived',
  );
  expect((await announce(inDays(10).toISOString())).status).toBe(202);
  expect((await client.post(`${url}/keep`)).status).toBe(200);
  expect((await announce(inDays(10).toISOString())).status).toBe(202);
  await comes(id);
  await eventually(async () => (await removalsOf(id)).length === 1);
});

test('a deletion is announced, withdrawn and announced again, and at its time the organization is deleted as by its owner', async () => {
  const { id } = owner.organization;
  const at = inDays(10);
  expect(await announce(at.toISOString())).toMatchObject({
    status: 202,
    body: { deletion_not_before: at.toISOString() },
  });
  expect((await client.get(url)).status).toBe(200);
  expect(await settingsOf(world, id)).toMatchObject({
    markedForDeletionAt: expect.any(Date),
    deletionNotBefore: at,
    deletionRequesterId: owner.user.id,
  });
  expect((await client.post(`${url}/keep`)).status).toBe(200);
  expect(await settingsOf(world, id)).toMatchObject({
    markedForDeletionAt: null,
    deletionNotBefore: null,
    deletionRequesterId: null,
  });
  expectProblem(await client.post(`${url}/keep`), 'rule_violated');
  const later = inDays(29).toISOString();
  const { data } = await client.graphql(
    'mutation ($id: ID!, $at: String!) { announceOrganizationDeletion(id: $id, notBefore: $at) { deletionNotBefore } }',
    { id, at: later },
  );
  expect(data.announceOrganizationDeletion.deletionNotBefore).toBe(later);
  expect(await removalsOf(id)).toEqual([]);
  await comes(id);
  expect(await eventually(async () => (await removalsOf(id))[0])).toEqual({ requester: owner.user.id });
  expect((await client.get(url)).status).not.toBe(200);
  expect(await eventsOf(id)).toMatchObject([
    { topic: 'organization.marked_for_deletion', payload: { notBefore: at.toISOString() } },
    { topic: 'organization.spared', payload: { reason: 'withdrawn' } },
    { topic: 'organization.marked_for_deletion', payload: { notBefore: later } },
    { topic: 'organization.deleted' },
  ]);
  await eventually(
    async () => (await asOwner(world, 'select 1 from announced_deletions where id = $1', [id])).length === 0,
  );
});

test('an organization below another one can be announced, and an organization whose announcer is no owner any more is spared', async () => {
  const part = await buildPart(world, owner.organization.id);
  const other = await buildPerson(world, { organization: part, role: 'owner' });
  await buildPerson(world, { organization: owner.organization, role: 'owner' });
  expect((await announce(inDays(1).toISOString())).status).toBe(202);
  await asSystem(world, owner.organization.id, async (data) => {
    const held = await data.findOne(membership, { userId: { eq: owner.user.id } });
    await data.update(membership, held?.id ?? '', { role: 'admin' });
  });
  await comes(owner.organization.id);
  await eventually(async () => (await settingsOf(world, owner.organization.id)).markedForDeletionAt === null);
  expect((await eventsOf(owner.organization.id)).at(-1)).toMatchObject({ payload: { reason: 'requester_left' } });
  expect(await removalsOf(owner.organization.id)).toEqual([]);
  const inPart = await signedIn(world, other);
  const answer = await inPart.mutate({
    method: 'DELETE',
    url: `/v1/organizations/${part.id}?not_before=${inDays(1).toISOString()}`,
  });
  expect(answer.status).toBe(202);
  await comes(part.id);
  expect(await eventually(async () => (await removalsOf(part.id))[0])).toEqual({ requester: other.user.id });
});

test('the other people who manage it learn of an announced deletion, each once, and its announcer of the end', async () => {
  const other = await buildPerson(world, { organization: owner.organization, role: 'owner' });
  const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  const former = await buildPerson(world, { organization: owner.organization, role: 'owner' });
  await asSystem(world, owner.organization.id, async (data) => {
    const held = await data.findOne(membership, { userId: { eq: former.user.id } });
    await data.remove(membership, held?.id ?? '');
  });
  expect((await announce(inDays(3).toISOString())).status).toBe(202);
  await comes(owner.organization.id);
  const subjectsTo = async ({ user }: Person) =>
    (await mailsTo(world, user.email))
      .map((mail) => /^Subject: (.*)$/m.exec(unfolded(mail))?.[1]?.trim() ?? '')
      .filter((subject) => /was deleted|are removed/.test(subject));
  await eventually(async () => (await subjectsTo(owner)).length > 0 && (await subjectsTo(other)).length > 0, 60_000);
  expect(await subjectsTo(owner)).toEqual(['The contents of an organization are removed']);
  expect(await subjectsTo(other)).toEqual(['An organization was deleted']);
  const mails = (await mailsTo(world, other.user.email)).map(unfolded);
  expect(mails.find((mail) => mail.includes('An organization was deleted'))).toContain('as an owner had announced');
  expect([await subjectsTo(member), await subjectsTo(former)]).toEqual([[], []]);
});

test('T-123: an input deletes nothing: the rows decide, once, at their time', async () => {
  const { id } = owner.organization;
  const { deleteAnnouncedOrganization } = createOrganizationsActivities({
    database: world.runtime.database,
    textRecords: world.runtime.textRecords,
  });
  const run = (organizationId = id) => deleteAnnouncedOrganization({ organizationId } as never);
  expect(await run()).toBe('none');
  expect(await run(newId())).toBe('none');
  expect((await announce(inDays(5).toISOString())).status).toBe(202);
  expect(await run()).toBe('postponed');
  expect((await client.get(url)).status).toBe(200);
  await settingsOf(world, id, { deletionNotBefore: inDays(-1) });
  // A crash after the commit: the next attempt finds nothing to do.
  expect((await Promise.allSettled([run(), run()])).filter(({ status }) => status === 'fulfilled')).not.toEqual([]);
  expect(await run()).toBe('none');
  expect(await removalsOf(id)).toEqual([{ requester: owner.user.id }]);
});

test('bad times, people who may not delete it, and marks of the server are refused, and nothing is announced', async () => {
  const { id } = owner.organization;
  for (const [at, message] of [
    ['0', 'must be a day such as 2027-01-31'],
    ['-1', 'must be a day such as 2027-01-31'],
    ['30d', 'must be a day such as 2027-01-31'],
    ['2020-01-31', 'must be in the future'],
    [inDays(31).toISOString(), 'must be at most 30 days from now'],
    [inDays(4000).toISOString(), 'must be at most 30 days from now'],
  ] as const) {
    const answer = await announce(at);
    expectProblem(answer, 'invalid_input');
    expect(JSON.stringify(answer.body)).toContain(message);
  }
  expectProblem(
    await client.mutate({ method: 'DELETE', url: `${url}?not_before=${inDays(1).toISOString()}&record_version=77` }),
    'stale_record',
  );
  const at = inDays(2).toISOString();
  const admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  expectProblem(await announce(at, await signedIn(world, admin)), 'permission_denied');
  expectProblem(await announce(at, await signedIn(world, await buildPerson(world))), 'not_found');
  world.clock.advance(11 * 60_000);
  expectProblem(await announce(inDays(2).toISOString()), 'step_up_required');
  expect(await settingsOf(world, id)).toMatchObject({ markedForDeletionAt: null, deletionRequesterId: null });
  expect(await eventsOf(id)).toEqual([]);
  await settingsOf(world, id, { markedForDeletionAt: world.clock.now(), deletionNotBefore: inDays(7) });
  const again = await signedIn(world, owner);
  expectProblem(await announce(inDays(2).toISOString(), again), 'rule_violated');
  expectProblem(await again.post(`${url}/keep`), 'rule_violated');
});
