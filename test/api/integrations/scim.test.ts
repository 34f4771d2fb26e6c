import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { directoryAccount, integration, membership } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { ScimClient, scimSchemas } from '../../kit/integrations/scim-client.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
let scim: ScimClient;

beforeAll(async () => {
  world = await openWorld();
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  scim = await ScimClient.connect(world, client);
});
afterAll(() => world.close());

test('the integration says when the identity provider wrote last, and its receiver is active', async () => {
  await scim.createUser(`${newId()}@example.com`);
  const { body } = await client.get(`/v1/integrations/${scim.integrationId}`);
  expect(body.last_sync_at).toEqual(expect.any(String));
  const { body: receivers } = await client.get(`/v1/integration-webhooks?integration_id=${scim.integrationId}`);
  expect(receivers.data).toMatchObject([{ status: 'active' }]);
});

test('a user is created, found by name in any case, replaced, changed and deleted', async () => {
  const created = await scim.send('POST', '/Users', {
    schemas: [scimSchemas.user, scimSchemas.enterprise],
    userName: 'Ann@example.com',
    externalId: 'a-1',
    name: { givenName: 'Ann', familyName: 'Arbor' },
    emails: [{ value: 'Ann@Example.com', type: 'work', primary: true }],
    [scimSchemas.enterprise]: { department: 'Security' },
  });
  expect(created).toMatchObject({ status: 201, type: expect.stringContaining('application/scim+json'), etag: 'W/"1"' });
  const { id } = created.body;
  const { body: found } = await scim.send(
    'GET',
    `/Users?filter=${encodeURIComponent('userName eq "ann@EXAMPLE.com"')}`,
  );
  expect(found).toMatchObject({ totalResults: 1, Resources: [{ id, externalId: 'a-1' }] });
  const { body: account } = await client.get(`/v1/directory-accounts/${id}`);
  expect(account).toMatchObject({ email: 'ann@example.com', given_name: 'Ann', is_active: true, reference: 'a-1' });
  const replaced = await scim.send('PUT', `/Users/${id}`, { schemas: [scimSchemas.user], userName: 'ann@example.com' });
  expect(replaced.body).not.toHaveProperty('name');
  expect(replaced.body).not.toHaveProperty('externalId');
  expect((await scim.send('DELETE', `/Users/${id}`)).status).toBe(204);
  expect(await scim.send('GET', `/Users/${id}`)).toMatchObject({ status: 404, body: { status: '404' } });
});

test('somebody who is pushed as inactive has no rights with the next request, however many accounts end before', async () => {
  const theirs = await buildPerson(world);
  const manager = await signedIn(world, theirs);
  const directory = await ScimClient.connect(world, manager);
  const { integrationId } = directory;
  const home = theirs.organization.id;
  const ann = await buildPerson(world);
  // More than one transaction looks at in one statement: they end, and the last owner stays.
  await asSystem(world, home, async (data) => {
    await data.update(integration, integrationId, { isPrimaryDirectory: true });
    const owning = await data.findOne(membership, { userId: { eq: theirs.user.id }, organizationId: { eq: home } });
    const leaver = { integrationId, organizationId: home, isActive: false, membershipId: owning?.id ?? null };
    await data.createRows(
      directoryAccount,
      Array.from({ length: 100 }, (_none, index) => ({ ...leaver, externalId: `leaver ${index}` })),
    );
  });
  const id = await directory.createUser('ann@example.com');
  await asSystem(world, home, async (data) => {
    const given = await data.create(membership, { userId: ann.user.id });
    await data.update(directoryAccount, id, { membershipId: given.id });
  });
  const isMember = () =>
    asSystem(world, home, (data) =>
      data.findOne(membership, { userId: { eq: ann.user.id }, organizationId: { eq: home } }),
    );
  expect(await isMember()).toBeDefined();
  expect(await directory.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })).toMatchObject({
    status: 200,
  });
  expect(await isMember()).toBeUndefined();
});

describe('operations as identity providers write them', () => {
  const forms: readonly [string, object, (user: Record<string, unknown>) => unknown, unknown][] = [
    ['a word in any case', { op: 'Replace', path: 'active', value: false }, ({ active }) => active, false],
    ['a truth value as a text', { op: 'replace', path: 'active', value: 'False' }, ({ active }) => active, false],
    ['an addition to one value', { op: 'Add', path: 'active', value: 'False' }, ({ active }) => active, false],
    ['a value without a path', { op: 'replace', value: { active: false } }, ({ active }) => active, false],
    [
      'a path as a name',
      { op: 'replace', value: { 'name.familyName': 'New' } },
      ({ name }) => name,
      { familyName: 'New' },
    ],
    [
      'a path with the id of the schema',
      { op: 'replace', path: `${scimSchemas.user}:displayName`, value: 'Shown' },
      ({ displayName }) => displayName,
      'Shown',
    ],
    [
      'a path into the extension',
      { op: 'add', path: `${scimSchemas.enterprise}:department`, value: 'Legal' },
      (user) => user[scimSchemas.enterprise],
      { department: 'Legal' },
    ],
    [
      'a manager as an id alone',
      { op: 'Add', path: `${scimSchemas.enterprise}:manager`, value: 'boss' },
      (user) => user[scimSchemas.enterprise],
      { manager: { value: 'boss' } },
    ],
    [
      'a manager as a list',
      { op: 'Add', path: `${scimSchemas.enterprise}:manager`, value: [{ value: 'boss' }] },
      (user) => user[scimSchemas.enterprise],
      { manager: { value: 'boss' } },
    ],
    [
      'a part of a value that is not there yet',
      { op: 'replace', path: 'emails[type eq "work"].value', value: 'w@example.com' },
      ({ emails }) => emails,
      [{ type: 'work', value: 'w@example.com' }],
    ],
    [
      'a colon in a filter',
      { op: 'replace', path: 'phoneNumbers[value eq "tel:1"].display', value: 'One' },
      ({ phoneNumbers }) => phoneNumbers,
      [{ value: 'tel:1', display: 'One' }],
    ],
  ];

  test.each(forms)('%s', async (_form, operation, read, expected) => {
    const id = await scim.createUser(`${newId()}@example.com`);
    const { status, body } = await scim.patch(`/Users/${id}`, operation);
    expect(status).toBe(200);
    expect(read(body)).toEqual(expected);
  });

  test('a removed member is one member, and an addition unites', async () => {
    const [one, two, three] = await Promise.all(['1', '2', '3'].map(() => scim.createUser(`${newId()}@example.com`)));
    const group = await scim.createGroup('Team', [one!, two!]);
    await scim.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${one}"]` });
    expect(await scim.membersOf(group)).toEqual([two]);
    await scim.patch(`/Groups/${group}`, { op: 'Add', path: 'members', value: [{ value: two }, { value: three }] });
    expect(await scim.membersOf(group)).toEqual([two, three].map(String).toSorted());
    // The form in which Entra removes members.
    await scim.patch(`/Groups/${group}`, { op: 'Remove', path: 'members', value: [{ value: two }] });
    expect(await scim.membersOf(group)).toEqual([three]);
  });

  test('a replacement without members empties nothing', async () => {
    const member = await scim.createUser(`${newId()}@example.com`);
    const group = await scim.createGroup('Kept', [member]);
    await scim.patch(`/Groups/${group}`, { op: 'replace', path: 'members', value: [] });
    await scim.patch(`/Groups/${group}`, { op: 'replace', value: { displayName: 'Renamed' } });
    expect(await scim.membersOf(group)).toEqual([member]);
  });

  test('operations are applied all, or none', async () => {
    const id = await scim.createUser(`${newId()}@example.com`);
    const answer = await scim.patch(
      `/Users/${id}`,
      { op: 'replace', path: 'displayName', value: 'Changed' },
      { op: 'replace', path: 'unknown', value: 1 },
    );
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidPath' } });
    expect((await scim.send('GET', `/Users/${id}`)).body).not.toHaveProperty('displayName');
  });
});

describe('what is refused', () => {
  const user = { schemas: [scimSchemas.user], userName: 'somebody@example.com' };
  const refused: readonly [string, string, string, unknown, number, string][] = [
    ['no user name', 'POST', '/Users', { schemas: [scimSchemas.user] }, 400, 'invalidValue'],
    ['an unknown attribute', 'POST', '/Users', { ...user, usrName: 'x' }, 400, 'invalidPath'],
    ['no schema', 'POST', '/Users', { userName: 'x' }, 400, 'invalidSyntax'],
    ['text that is no JSON', 'POST', '/Users', '{"schemas": [', 400, 'invalidSyntax'],
    ['a prototype', 'POST', '/Users', '{"__proto__": {"a": 1}}', 400, 'invalidSyntax'],
    ['a word that is no truth value', 'POST', '/Users', { ...user, active: 'maybe' }, 400, 'invalidValue'],
    [
      'an unknown member',
      'POST',
      '/Groups',
      { schemas: [scimSchemas.group], displayName: 'G', members: [{ value: newId() }] },
      400,
      'invalidValue',
    ],
    [
      'a group in a group',
      'POST',
      '/Groups',
      { schemas: [scimSchemas.group], displayName: 'G', members: [{ value: 'x', type: 'Group' }] },
      400,
      'invalidValue',
    ],
    ['a filter that cannot be read', 'GET', '/Users?filter=userName%20is%20x', undefined, 400, 'invalidFilter'],
    ['a filter of an unknown attribute', 'GET', '/Users?filter=shoeSize%20eq%201', undefined, 400, 'invalidFilter'],
    [
      'a filter of 10 kB',
      'GET',
      `/Users?filter=${encodeURIComponent(`userName eq "${'a'.repeat(10_000)}"`)}`,
      undefined,
      400,
      'invalidFilter',
    ],
  ];

  test.each(refused)('%s', async (_what, method, path, body, status, scimType) => {
    const answer = await scim.send(method, path, body);
    expect(answer).toMatchObject({ status, body: { status: String(status), scimType, detail: expect.any(String) } });
  });

  test('a name that is taken, in whatever case, also by two requests at once', async () => {
    const answers = await Promise.all(
      ['twin@example.com', 'TWIN@example.com'].map((userName) =>
        scim.send('POST', '/Users', { schemas: [scimSchemas.user], userName }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([201, 409]);
    expect(answers.find(({ status }) => status === 409)?.body.scimType).toBe('uniqueness');
  });

  test('a change of another version', async () => {
    const id = await scim.createUser(`${newId()}@example.com`);
    await scim.patch(`/Users/${id}`, { op: 'replace', path: 'title', value: 'One' });
    const body = { schemas: [scimSchemas.patch], Operations: [{ op: 'replace', path: 'title', value: 'Two' }] };
    expect(await scim.send('PATCH', `/Users/${id}`, body, { 'if-match': 'W/"1"' })).toMatchObject({ status: 412 });
    expect(await scim.send('PATCH', `/Users/${id}`, body, { 'if-match': 'W/"2"' })).toMatchObject({ status: 200 });
  });

  test('another secret, none, and an unknown endpoint', async () => {
    for (const authorization of ['', 'Bearer ', 'Bearer whsec_wrong', `Basic ${scim.token}`])
      expect(await scim.send('GET', '/Users', undefined, { authorization })).toMatchObject({
        status: 401,
        type: expect.stringContaining('application/scim+json'),
      });
    const elsewhere = await fetch(scim.url.replace(scim.endpointId, newId()) + '/Users', {
      headers: { authorization: `Bearer ${scim.token}` },
    });
    expect(elsewhere.status).toBe(404);
  });

  test('other methods and addresses, in the form of the protocol', async () => {
    expect(await scim.send('DELETE', '/Schemas')).toMatchObject({ status: 405, body: { status: '405' } });
    expect(await scim.send('GET', '/Nothing')).toMatchObject({ status: 404, body: { status: '404' } });
  });
});

test('a directory sees nothing of another one', async () => {
  const other = await ScimClient.connect(world, await signedIn(world, await buildPerson(world)));
  const id = await scim.createUser(`${newId()}@example.com`);
  for (const [method, body] of [
    ['GET', undefined],
    ['PUT', { schemas: [scimSchemas.user], userName: 'x' }],
    ['PATCH', { schemas: [scimSchemas.patch], Operations: [{ op: 'replace', path: 'title', value: 'x' }] }],
    ['DELETE', undefined],
  ] as const)
    expect((await other.send(method, `/Users/${id}`, body)).status).toBe(404);
  const group = { schemas: [scimSchemas.group], displayName: 'G', members: [{ value: id }] };
  expect((await other.send('POST', '/Groups', group)).status).toBe(400);
  expect((await other.send('GET', '/Users')).body.totalResults).toBe(0);
});

test('a disconnected directory refuses everything, and its secret is gone', async () => {
  const other = await ScimClient.connect(world, client, 'Second');
  await client.post(`/v1/integrations/${other.integrationId}/disconnect`, {});
  expect((await other.send('GET', '/Users')).status).toBe(403);
  const stored = JSON.stringify(await asOwner(world, 'select * from integration_webhooks'));
  expect(stored).not.toContain(other.token);
});

test('another receiver of the integration is not taken for its endpoint', async () => {
  const { integrationId, endpointId } = await ScimClient.connect(world, client, 'With another receiver');
  const made = await client.post('/v1/integration-webhooks', { name: 'Other', integration_id: integrationId });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const url = `/v1/integration-webhooks/${endpointId}`;
  expect((await client.mutate({ method: 'DELETE', url })).status).toBe(204);
  const { body } = await client.post('/v1/integrations/scim/config', { integration_id: integrationId });
  expect(body.webhook_secret).toEqual(expect.any(String));
  expect(body.webhook_endpoint_url).not.toContain(endpointId);
  expect(body.webhook_endpoint_url).not.toContain(made.body.id);
});
