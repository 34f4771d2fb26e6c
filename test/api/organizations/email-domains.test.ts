import { afterAll, beforeAll, expect, test } from 'vitest';
import { admitNewcomer } from '#activities/organizations/admit-newcomer.ts';
import { identityProvider, membership } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { DnsServer } from '../../kit/servers/dns-server.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { changeSettings } from '../../kit/records/organization-settings.ts';
import { buildPart, buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { emailChangeToken, verificationToken } from '../../kit/identity/verification-token.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let dns: DnsServer;
let owner: Person;
let client: TestClient;
let settingId: string;

const domain = 'corp.example';
const label = `_core-single-sign-on.${domain}`;
const proof = (organizationId: string) => `organization=${organizationId};domain=${domain}`;

beforeAll(async () => {
  dns = await DnsServer.start();
  world = await openWorld({ worker: true, emailNetwork: { nameServers: [dns.address], limitMs: 1_000 } });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  settingId = (await client.get('/v1/organization-settings')).body.data[0].id;
});
afterAll(async () => {
  await world.close();
  await dns.close();
});

const set = (payload: object, by = client) =>
  by.mutate({ method: 'PATCH', url: `/v1/organization-settings/${settingId}`, payload });

/** Signs up and confirms; returns the organizations in which the person is afterwards, once the admission has ended. */
async function confirmed(email: string): Promise<string> {
  const by = world.client();
  expect((await by.post('/v1/register', { email, password: testPassword })).status).toBe(202);
  const token = await eventually(() => verificationToken(world, email));
  expect((await by.post('/v1/verify', { token, password: testPassword })).status).toBe(200);
  const [person] = await asOwner<{ id: string }>(world, 'select id from users where email = $1', [email]);
  return person?.id ?? '';
}

const rolesOf = async (userId: string) =>
  (
    await asOwner<{ role: string }>(
      world,
      'select role from memberships where user_id = $1 and organization_id = $2 and deleted_at is null',
      [userId, owner.organization.id],
    )
  ).map(({ role }) => role);

/** Waits until the admission of a person has been tried. */
async function settled(userId: string): Promise<void> {
  const run = world.runtime.temporal.client.workflow.getHandle(`${world.name}/admit-by-domain/${userId}`);
  await eventually(async () => (await run.describe()).status.name === 'COMPLETED');
}

test('people with a confirmed address of a proven domain become members, and are in its managed groups', async () => {
  expectProblem(await set({ email_domains: ['Corp Example'] }), 'invalid_input');
  expect((await set({ email_domains: [domain], admits_email_domains: true })).status).toBe(200);
  dns.zone.set(label, { txt: [proof(owner.organization.id)] });
  const verified = await client.post('/v1/email-domains/verify');
  expect(verified.body.domains).toEqual([
    { domain, record_name: label, record_value: proof(owner.organization.id), is_proven: true },
  ]);
  const id = await confirmed(`ada@${domain}`);
  await eventually(async () => (await rolesOf(id)).length === 1);
  expect(await rolesOf(id)).toEqual(['member']);
  const groups = await asOwner<{ managed: string }>(
    world,
    `select g.managed_as as managed from group_memberships m join groups g on g.id = m.group_id
     where m.user_id = $1 and m.deleted_at is null order by 1`,
    [id],
  );
  expect(groups.map(({ managed }) => managed)).toEqual(['all_members', 'viewers']);
});

test('nobody is admitted by a domain that the zone does not prove, or that another organization has proven', async () => {
  for (const txt of [[], [proof(newId())], ['something else']]) {
    dns.zone.set(label, { txt });
    const id = await confirmed(`${newId().toLowerCase()}@${domain}`);
    await settled(id);
    expect(await rolesOf(id)).toEqual([]);
  }
  dns.zone.set(label, { txt: [proof(owner.organization.id)] });
  const elsewhere = await confirmed(`${newId().toLowerCase()}@sub.${domain}`);
  expect(await rolesOf(elsewhere)).toEqual([]);
});

test('an organization admits people however many others claim its domain', async () => {
  const crowded = 'crowded.example';
  const claim = { emailDomains: [crowded], admitsEmailDomains: true };
  for (let left = 55; left > 0; left--) await changeSettings(world, (await buildPart(world, null)).id, claim);
  const { organization: proven } = await buildPerson(world);
  await changeSettings(world, proven.id, claim);
  dns.zone.set(`_core-single-sign-on.${crowded}`, { txt: [`organization=${proven.id};domain=${crowded}`] });
  const id = await confirmed(`ada@${crowded}`);
  await settled(id);
  const held = await asOwner(world, 'select organization_id from memberships where user_id = $1 and role = $2', [
    id,
    'member',
  ]);
  expect(held).toEqual([{ organization_id: proven.id }]);
});

test('whoever changes their address to one of the domain becomes a member, too', async () => {
  dns.zone.set(label, { txt: [proof(owner.organization.id)] });
  const person = await buildPerson(world);
  const by = await signedIn(world, person);
  const email = `changed-${newId().toLowerCase()}@${domain}`;
  expect((await by.post('/v1/account/email', { password: testPassword, new_email: email })).status).toBe(202);
  const token = await eventually(() => emailChangeToken(world, email));
  expect((await by.post('/v1/account/email/confirm', { token, password: testPassword })).status).toBe(200);
  await eventually(async () => (await rolesOf(person.user.id)).length === 1);
});

test('a name server that is away is asked again', async () => {
  dns.zone.set(label, 'failing');
  const id = await confirmed(`patient@${domain}`);
  expect(await rolesOf(id)).toEqual([]);
  dns.zone.set(label, { txt: [proof(owner.organization.id)] });
  await eventually(async () => (await rolesOf(id)).length === 1);
});

test('whoever was removed, and everybody while single sign-on is enforced, needs an invitation', async () => {
  await asSystem(world, owner.organization.id, (data) =>
    data.create(identityProvider, {
      issuer: 'https://login.example',
      clientId: 'x',
      clientSecret: 'sealed',
      revision: newId(),
      isEnforced: true,
    }),
  );
  const id = await confirmed(`enforced@${domain}`);
  await settled(id);
  expect(await rolesOf(id)).toEqual([]);
  await asSystem(world, owner.organization.id, async (data) => {
    const held = await data.findOne(identityProvider, { organizationId: { eq: owner.organization.id } });
    await data.remove(identityProvider, held?.id ?? '');
    // A person of before, who was removed.
    const joined = await data.create(membership, { userId: id, role: 'member' });
    await data.remove(membership, joined.id);
  });
  expect(await admitNewcomer({ database: world.runtime.database, textRecords: world.runtime.textRecords }, id)).toBe(0);
  expect(await rolesOf(id)).toEqual([]);
});

test('only managers set the domains and look for the records', async () => {
  const member = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'member' }));
  expectProblem(await set({ admits_email_domains: true }, member), 'permission_denied');
  expectProblem(await member.post('/v1/email-domains/verify'), 'permission_denied');
  expectProblem(await world.client().post('/v1/email-domains/verify'), 'unauthenticated');
  await changeSettings(world, owner.organization.id, { admitsEmailDomains: false });
  const id = await confirmed(`late@${domain}`);
  expect(await rolesOf(id)).toEqual([]);
});
