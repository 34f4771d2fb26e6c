import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { integrationDefinitions } from '#activities/clients/integrations/definitions.ts';
import { directorySettings } from '#activities/clients/integrations/directory-settings.ts';
import { directorySyncRun, integrationRun, membership, user } from '#entities/index.ts';
import { domainProof } from '#entities/kit/base/proven-domain.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { verificationToken } from '../../kit/identity/verification-token.ts';
import { ScimClient } from '../../kit/integrations/scim-client.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import { DnsServer } from '../../kit/servers/dns-server.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let dns: DnsServer;
let owner: Person;
let client: TestClient;
let scim: ScimClient;
let domain: string;

beforeAll(async () => {
  dns = await DnsServer.start();
  world = await openWorld({ worker: true, emailNetwork: { nameServers: [dns.address], limitMs: 1_000 } });
});
afterAll(async () => {
  await world.close();
  await dns.close();
});

beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  scim = await ScimClient.connect(world, client);
  domain = `${newId().toLowerCase()}.example`;
  const { name, value } = domainProof(owner.organization.id, domain);
  dns.zone.set(name, { txt: [value] });
  expect((await setPrimary(scim.integrationId, true)).status).toBe(200);
});

const patch = (url: string, payload: object) => client.mutate({ method: 'PATCH', url, payload });
const setPrimary = (id: string, isPrimary: boolean) =>
  patch(`/v1/integrations/${id}`, { is_primary_directory: isPrimary });
const configure = (userInput: object) =>
  client.post('/v1/integrations/scim/config', { integration_id: scim.integrationId, user_input: userInput });

/** A person who has an account on this server, and none in the organization. */
const stranger = (name: string) => buildPerson(world, { email: `${name}@${domain}` });

const push = (name: string, more: object = {}) => scim.createUser(`${name}@${domain}`, more);
const account = async (id: string) => (await client.get(`/v1/directory-accounts/${id}`)).body;

async function roleOf({ user: { id } }: Pick<Person, 'user'>): Promise<string | undefined> {
  const rows = await asOwner<{ role: string }>(
    world,
    'select role from memberships where user_id = $1 and organization_id = $2 and deleted_at is null',
    [id, owner.organization.id],
  );
  return rows[0]?.role;
}
const hasRole = (person: Pick<Person, 'user'>, role: string | undefined) =>
  eventually(async () => (await roleOf(person)) === role);
const hasProvisioning = (id: string, provisioning: string) =>
  eventually(async () => {
    const found = await account(id);
    return found.provisioning === provisioning && found;
  });

/** The workflow rests. */
async function isProvisioned(): Promise<void> {
  const { client: temporal } = world.runtime.temporal;
  const handle = temporal.workflow.getHandle(`${world.name}/integration-provision/${scim.integrationId}`);
  await eventually(async () => (await handle.describe()).status.name === 'COMPLETED');
}

const deactivate = (id: string) => scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
const activate = (id: string) => scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true });

const inHome = ({ user: { email } }: Person) =>
  signedIn(world, { user: { email }, organization: owner.organization } as Person);

test('an active account makes its person a member, and one that is inactive or gone takes all rights with the next request', async () => {
  const [ann, bob] = [await stranger('ann'), await stranger('bob')];
  const [annId, bobId] = [await push('ann'), await push('bob')];
  await hasRole(ann, 'member');
  await hasRole(bob, 'member');
  expect(await hasProvisioning(annId, 'member')).toMatchObject({ user_id: ann.user.id, provisioning_problem: null });
  const [annClient, bobClient] = [await inHome(ann), await inHome(bob)];
  expect((await annClient.get(`/v1/organizations/${owner.organization.id}`)).status).toBe(200);
  await deactivate(annId);
  expect((await annClient.get(`/v1/organizations/${owner.organization.id}`)).status).not.toBe(200);
  expect(await account(annId)).toMatchObject({ provisioning: 'ended', is_active: false });
  expect((await scim.send('DELETE', `/Users/${bobId}`)).status).toBe(204);
  expect((await bobClient.get(`/v1/organizations/${owner.organization.id}`)).status).not.toBe(200);
  await activate(annId);
  await hasRole(ann, 'member');
});

test('the role follows the groups, and nobody becomes an owner', async () => {
  const ann = await stranger('ann');
  const id = await push('ann');
  const admins = await scim.createGroup('Administrators', [id]);
  await hasRole(ann, 'member');
  const roleGroups = [{ group: 'Administrators', role: 'admin' }];
  expect((await configure({ roleGroups })).status).toBe(200);
  await hasRole(ann, 'admin');
  await scim.patch(`/Groups/${admins}`, { op: 'remove', path: `members[value eq "${id}"]` });
  await hasRole(ann, 'member');
  expectProblem(await configure({ roleGroups: [{ group: 'x', role: 'owner' }] }), 'invalid_input');
});

test('nobody takes a role by naming a group like the id of another one, or like a group that is there already', async () => {
  const ann = await stranger('ann');
  const [admins, auditors] = [await scim.createGroup('Administrators'), await scim.createGroup('Auditors')];
  const { external_id: adminsId } = (await client.get(`/v1/directory-groups/${admins}`)).body;
  const roleGroups = [
    { group: adminsId, role: 'admin' },
    { group: 'Auditors', role: 'auditor' },
  ];
  expect((await configure({ roleGroups })).status).toBe(200);
  const id = await push('ann');
  await hasRole(ann, 'member');
  await scim.createGroup(adminsId, [id]);
  const like = await scim.createGroup('Auditors', [id]);
  const other = await stranger('other');
  await push('other');
  await hasRole(other, 'member');
  expect(await roleOf(ann)).toBe('member');
  await scim.patch(`/Groups/${admins}`, { op: 'add', path: 'members', value: [{ value: id }] });
  await hasRole(ann, 'admin');
  await scim.send('DELETE', `/Groups/${like}`);
  await scim.patch(`/Groups/${admins}`, { op: 'remove', path: 'members' });
  await scim.patch(`/Groups/${auditors}`, { op: 'add', path: 'members', value: [{ value: id }] });
  await hasRole(ann, 'auditor');
});

test('of two accounts with one address, the second keeps its person when the first ends', async () => {
  const ann = await stranger('ann');
  const first = await push('ann');
  await hasRole(ann, 'member');
  const second = await scim.createUser('ann.new', { emails: [{ value: `ann@${domain}` }] });
  await eventually(async () => (await account(second)).user_id === ann.user.id);
  await deactivate(first);
  await hasProvisioning(second, 'member');
  expect(await roleOf(ann)).toBe('member');
});

test.each(['waiting', 'failed', 'cancelled'] as const)(
  'a pass that is %s takes the rights of those whom it found inactive all the same',
  async (status) => {
    const ann = await stranger('ann');
    const id = await push('ann');
    await hasRole(ann, 'member');
    await hasProvisioning(id, 'member');
    await isProvisioned();
    await asOwner(world, 'update directory_accounts set is_active = false where id = $1', [id]);
    const { integrationId } = scim;
    await asSystem(world, owner.organization.id, async (data) => {
      const run = await data.create(integrationRun, { integrationId, operationName: 'directorySync' });
      const pass = await data.create(directorySyncRun, { integrationId, runId: run.id });
      await data.update(directorySyncRun, pass.id, { status });
    });
    await hasRole(ann, undefined);
  },
);

/** Ends the membership of somebody, as an owner does it. */
async function remove({ user: { id } }: Person): Promise<void> {
  const { body } = await client.get('/v1/memberships');
  const held = body.data.find(({ user_id: one }: { user_id: string }) => one === id);
  expect((await client.mutate({ method: 'DELETE', url: `/v1/memberships/${held.id}` })).status).toBe(204);
}

test('somebody whom a person has added stays as they are, and stays away when a person removes them', async () => {
  const ann = await stranger('ann');
  await asSystem(world, owner.organization.id, (data) =>
    data.create(membership, { userId: ann.user.id, role: 'auditor' }),
  );
  const id = await push('ann');
  await eventually(async () => (await account(id)).user_id === ann.user.id);
  await deactivate(id);
  expect(await roleOf(ann)).toBe('auditor');
  await activate(id);
  await remove(ann);
  const other = await stranger('other');
  await push('other');
  await hasRole(other, 'member');
  expect(await roleOf(ann)).toBeUndefined();
});

test('somebody whom a person has removed is not added again, and the account says so', async () => {
  const ann = await stranger('ann');
  const id = await push('ann');
  await hasRole(ann, 'member');
  await remove(ann);
  await scim.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'Ann' });
  expect(await hasProvisioning(id, 'refused')).toMatchObject({
    provisioning_problem: expect.stringContaining('Invite them again'),
  });
  expect(await roleOf(ann)).toBeUndefined();
});

test.each([true, false])(
  'somebody whom a person has removed while the directory was disconnected stays away afterwards (records kept: %s)',
  async (keepsRecords) => {
    const [ann, bob] = [await stranger('ann'), await stranger('bob')];
    await push('ann');
    await push('bob');
    await hasRole(ann, 'member');
    await hasRole(bob, 'member');
    const url = `/v1/integrations/${scim.integrationId}`;
    expect((await client.post(`${url}/disconnect`, { keeps_records: keepsRecords })).status).toBe(202);
    await eventually(async () => {
      const { status, body } = await client.get(url);
      return keepsRecords ? body.status === 'disconnected' : status === 404;
    });
    await remove(ann);
    scim = await ScimClient.connect(world, client, 'Again', keepsRecords ? scim.integrationId : undefined);
    expect((await setPrimary(scim.integrationId, true)).status).toBe(200);
    const ids: string[] = [];
    for (const name of ['ann', 'bob', 'cid']) {
      const held = await scim.send('GET', `/Users?filter=${encodeURIComponent(`userName eq "${name}@${domain}"`)}`);
      ids.push(held.body.Resources?.[0]?.id ?? (await push(name)));
    }
    expect(await hasProvisioning(ids[0] ?? '', 'refused')).toMatchObject({
      provisioning_problem: expect.stringContaining('Invite them again'),
    });
    await hasProvisioning(ids[1] ?? '', 'member');
    expect([await roleOf(ann), await roleOf(bob)]).toEqual([undefined, 'member']);
  },
);

test.each(['before the directory has an account of them', 'and the directory makes their account anew'])(
  'somebody whom a person has removed %s is not added',
  async (when) => {
    const ann = await stranger('ann');
    if (when.startsWith('before'))
      await asSystem(world, owner.organization.id, (data) => data.create(membership, { userId: ann.user.id }));
    const first = when.startsWith('and') ? await push('ann') : undefined;
    await hasRole(ann, 'member');
    await remove(ann);
    if (first !== undefined) expect((await scim.send('DELETE', `/Users/${first}`)).status).toBe(204);
    const id = await push('ann');
    expect(await hasProvisioning(id, 'refused')).toMatchObject({
      provisioning_problem: expect.stringContaining('Invite them again'),
    });
    expect(await roleOf(ann)).toBeUndefined();
  },
);

/** Makes people owners, and the owner of the organization none any more. */
const makeOwners = (...people: readonly Person[]) =>
  asSystem(world, owner.organization.id, async (data) => {
    const rows = await data.find(membership, { limit: 10 });
    const of = ({ user: { id: userId } }: Person) => rows.find((row) => row.userId === userId)?.id ?? '';
    for (const person of people) await data.update(membership, of(person), { role: 'owner' });
    await data.update(membership, of(owner), { role: 'super_admin' });
  });

test('of two owners who are inactive at the same time, one stays; everybody else leaves', async () => {
  const people = [await stranger('ann'), await stranger('bob'), await stranger('eve')] as const;
  const ids = [await push('ann'), await push('bob'), await push('eve')];
  for (const person of people) await hasRole(person, 'member');
  await makeOwners(people[0], people[1]);
  await isProvisioned();
  await asOwner(world, 'update directory_accounts set is_active = false where id = any($1)', [ids]);
  // A pass over another account, after which the directory is provisioned again.
  await push('late');
  await hasRole(people[2], undefined);
  expect([await roleOf(people[0]), await roleOf(people[1])].filter((role) => role !== undefined)).toEqual(['owner']);
});

test('a membership that another account has taken over does not end with the former account', async () => {
  const ann = await stranger('ann');
  const first = await push('ann');
  await hasRole(ann, 'member');
  await makeOwners(ann);
  expect((await scim.send('DELETE', `/Users/${first}`)).status).toBe(204);
  const second = await push('ann');
  await hasProvisioning(second, 'member');
  await buildPerson(world, { organization: owner.organization, role: 'owner' });
  await scim.patch(`/Users/${second}`, { op: 'replace', path: 'displayName', value: 'Ann' });
  await push('late');
  await isProvisioned();
  expect(await roleOf(ann)).toBe('owner');
  expect(await account(second)).toMatchObject({ provisioning: 'member', provisioning_problem: null });
});

test('the last active owner stays, with the reason at the account, and leaves when there is another one', async () => {
  const ann = await stranger('ann');
  const id = await push('ann');
  await hasRole(ann, 'member');
  await makeOwners(ann);
  expect((await deactivate(id)).status).toBe(200);
  expect(await roleOf(ann)).toBe('owner');
  expect(await account(id)).toMatchObject({
    provisioning: 'refused',
    provisioning_problem: expect.stringContaining('last active owner'),
  });
  await buildPerson(world, { organization: owner.organization, role: 'owner' });
  await scim.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'Ann' });
  await hasRole(ann, undefined);
});

test('accounts say why their people are no members', async () => {
  const noAddress = await scim.createUser('nobody');
  expect(await hasProvisioning(noAddress, 'refused')).toMatchObject({
    provisioning_problem: expect.stringContaining('Add one in the directory'),
  });
  const elsewhere = await buildPerson(world, { email: `ann@unproven-${domain}` });
  // Of a domain that is not its own, the organization does not learn who has an account.
  for (const name of ['ann', 'nobody-at-all'])
    expect(await hasProvisioning(await scim.createUser(`${name}@unproven-${domain}`), 'waiting')).toMatchObject({
      user_id: null,
      provisioning_problem: expect.stringContaining(domainProof(owner.organization.id, `unproven-${domain}`).value),
    });
  expect(await roleOf(elsewhere)).toBeUndefined();
});

/** Somebody who signs up and confirms their address. */
async function confirmed(name: string): Promise<Pick<Person, 'user'>> {
  const by = world.client();
  const email = `${name}@${domain}`;
  await by.post('/v1/register', { email, password: testPassword });
  const token = await eventually(() => verificationToken(world, email));
  expect((await by.post('/v1/verify', { token, password: testPassword })).status).toBe(200);
  const [row] = await asOwner<{ id: string }>(world, 'select id from users where email = $1', [email]);
  return { user: { id: row?.id ?? '', email } } as Pick<Person, 'user'>;
}

test('a person who comes later becomes a member when the address is confirmed', async () => {
  const id = await push('late');
  expect(await hasProvisioning(id, 'waiting')).toMatchObject({
    provisioning_problem: expect.stringContaining(`late@${domain}`),
  });
  await confirmed('late');
  await hasProvisioning(id, 'member');
});

test('nobody becomes a member of an archived organization', async () => {
  const id = await push('late');
  await hasProvisioning(id, 'waiting');
  const archive = (isArchived: boolean) =>
    patch(`/v1/organizations/${owner.organization.id}`, { is_archived: isArchived });
  expect((await archive(true)).status).toBe(200);
  const late = await confirmed('late');
  await isProvisioned();
  expect(await roleOf(late)).toBeUndefined();
  expect((await archive(false)).status).toBe(200);
  await push('other');
  await hasRole(late, 'member');
});

test('an account that gets the address of somebody else moves the membership', async () => {
  const [ann, bob] = [await stranger('ann'), await stranger('bob')];
  const id = await push('ann');
  await hasRole(ann, 'member');
  await scim.patch(`/Users/${id}`, { op: 'replace', path: 'userName', value: `bob@${domain}` });
  await hasRole(bob, 'member');
  expect(await roleOf(ann)).toBeUndefined();
  // Of an address that nobody has, nothing follows for the person.
  await scim.patch(`/Users/${id}`, { op: 'replace', path: 'userName', value: `married@${domain}` });
  await asSystem(world, owner.organization.id, (data) => data.get(user, bob.user.id));
  expect(await roleOf(bob)).toBe('member');
});

test('an organization has one primary directory, and another one gives and takes nothing', async () => {
  const second = await ScimClient.connect(world, client, 'Second');
  const taken = await setPrimary(second.integrationId, true);
  expectProblem(taken, 'already_exists');
  expect(JSON.stringify(taken.body)).toContain('primary directory');
  const ann = await stranger('ann');
  await second.createUser(`ann@${domain}`);
  expect((await setPrimary(scim.integrationId, false)).status).toBe(200);
  expect((await setPrimary(second.integrationId, true)).status).toBe(200);
  await hasRole(ann, 'member');
});

test('nobody loses a membership when the primary directory is disconnected', async () => {
  const ann = await stranger('ann');
  await push('ann');
  await hasRole(ann, 'member');
  await client.post(`/v1/integrations/${scim.integrationId}/disconnect`, {});
  await eventually(async () => (await client.get(`/v1/integrations/${scim.integrationId}`)).status === 404);
  await isProvisioned();
  expect(await roleOf(ann)).toBe('member');
  // The directory that is connected in its place decides about those whom it has given.
  const next = await ScimClient.connect(world, client);
  expect((await setPrimary(next.integrationId, true)).status).toBe(200);
  const id = await next.createUser(`ann@${domain}`);
  await hasProvisioning(id, 'member');
  await next.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
  expect(await roleOf(ann)).toBeUndefined();
});

test('every directory has the settings of roles', () => {
  for (const { id, operations, userInput, webhooks } of integrationDefinitions) {
    const isDirectory =
      operations.some((one) => one.policy === 'run' && one.ingests.includes('directoryAccount')) ||
      webhooks.some(({ name }) => name === 'scim');
    const names = Object.keys(userInput.properties);
    for (const name of Object.keys(directorySettings)) expect(names.includes(name), `${id} ${name}`).toBe(isDirectory);
  }
});
