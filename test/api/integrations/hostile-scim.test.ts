import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { integration } from '#entities/index.ts';
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

const filtered = (filter: string) => scim.send('GET', `/Users?filter=${encodeURIComponent(filter)}`);
const inScim = (status: number) => ({
  status,
  type: expect.stringContaining('application/scim+json'),
  body: { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: String(status) },
});

describe('T-104: a filter is refused in a moment', () => {
  const nested = (depth: number) => `${'('.repeat(depth)}title pr${')'.repeat(depth)}`;
  const filters: readonly [string, string][] = [
    ['of 10 kB', `userName eq "${'a'.repeat(10_000)}"`],
    ['nested a thousand times', nested(1_000)],
    ['of a thousand negations', `${'not ('.repeat(300)}title pr${')'.repeat(300)}`],
    // The pattern of the parser would take a year.
    ['with line breaks in an open text', `userName eq "${'\n'.repeat(60)}`],
    ['with many backslashes in an open text', `userName eq "${'\\a'.repeat(900)}`],
    ['of a hundred comparisons', Array.from({ length: 100 }, () => 'title pr').join(' or ')],
    ['with a part behind its end', 'title pr title'],
    ['of an attribute without a value', 'name eq "Ann"'],
  ];
  test.each(filters)('%s', async (_what, filter) => {
    const begun = performance.now();
    const answer = await filtered(filter);
    expect(answer).toMatchObject({ ...inScim(400), body: { scimType: 'invalidFilter' } });
    expect(performance.now() - begun).toBeLessThan(2_000);
    const id = await scim.createUser(`${newId()}@example.com`);
    const inPath = await scim.patch(`/Users/${id}`, { op: 'remove', path: `emails[${filter}]` });
    expect(inPath.status).toBe(400);
  });

  test('but one with twenty parentheses is read, and those in texts do not matter', async () => {
    expect((await filtered(nested(20))).status).toBe(200);
    expect((await filtered(`title eq "${'('.repeat(50)}"`)).status).toBe(200);
  });
});

test.each([
  ['no object', []],
  ['an unknown parameter', { filtre: 'title pr' }],
  ['a filter that is no text', { filter: ['title pr'] }],
  ['a count that is no number', { count: 'all' }],
  ['an order', { sortBy: 'title' }],
])('a search with %s is refused, for users, groups and both', async (_what, body) => {
  for (const path of ['', '/Users', '/Groups'])
    expect(await scim.send('POST', `${path}/.search`, body)).toMatchObject(inScim(400));
});

test('a search finds users, then groups, over both', async () => {
  const other = await ScimClient.connect(world, client, newId());
  const user = await other.createUser('a', { externalId: 'x', displayName: 'same' });
  const group = await other.createGroup('Same');
  const found = async (body: object) => {
    const { Resources, totalResults } = (await other.send('POST', '/.search', body)).body;
    return [totalResults, ...Resources.map(({ id }: { readonly id: string }) => id)];
  };
  expect(await found({ filter: 'displayName eq "same"' })).toEqual([2, user, group]);
  expect(await found({ startIndex: 2, count: 1 })).toEqual([2, group]);
  // Groups have no such attribute.
  expect(await found({ filter: 'userName pr' })).toEqual([1, user]);
});

test('a filter compares instants as such, and ids exactly', async () => {
  const id = await scim.createUser(`${newId()}@example.com`);
  const { created } = (await scim.send('GET', `/Users/${id}`)).body.meta;
  const inTokyo = new Date(new Date(created).getTime() + 9 * 3_600_000).toISOString().replace('Z', '+09:00');
  const total = async (filter: string) => (await filtered(filter)).body.totalResults;
  expect(await total(`id eq "${id}" and meta.created eq "${inTokyo}"`)).toBe(1);
  expect(await total(`id eq "${id}" and meta.created gt "${inTokyo}"`)).toBe(0);
  expect(await total(`id eq "${id.toLowerCase()}" and meta.created pr`)).toBe(0);
});

test('a change of 10,000 operations is refused whole, and one of 1,000 is applied', async () => {
  const id = await scim.createUser(`${newId()}@example.com`);
  const operations = Array.from({ length: 10_000 }, (_none, index) => ({
    op: 'replace',
    path: 'title',
    value: String(index),
  }));
  expect(await scim.patch(`/Users/${id}`, ...operations)).toMatchObject({
    ...inScim(400),
    body: { scimType: 'tooMany' },
  });
  const { body } = await scim.patch(`/Users/${id}`, ...operations.slice(0, 1_000));
  expect(body).toMatchObject({ title: '999', meta: { version: 'W/"2"' } });
});

test('T-92: a body over a mebibyte is refused before the secret is looked at', async () => {
  const body = { schemas: [scimSchemas.user], userName: newId(), title: 'x'.repeat(1_048_576) };
  for (const authorization of [`Bearer ${scim.token}`, 'Bearer wrong'])
    expect(await scim.send('POST', '/Users', body, { authorization })).toMatchObject(inScim(413));
});

test('attributes of more than 16 kB are refused', async () => {
  const roles = Array.from({ length: 1_000 }, (_none, index) => ({ value: `role ${index}` }));
  const body = { schemas: [scimSchemas.user], userName: newId(), roles };
  expect(await scim.send('POST', '/Users', body)).toMatchObject({ ...inScim(400), body: { scimType: 'tooMany' } });
});

test.each([
  ['true', true],
  ['True', true],
  ['TRUE', true],
  ['false', false],
  ['False', false],
  [true, true],
  [false, false],
  ['yes', undefined],
  ['0', undefined],
  [1, undefined],
  [[], undefined],
  [{ value: false }, undefined],
])('active as %j is %j', async (active, expected) => {
  const { status, body } = await scim.send('POST', '/Users', {
    schemas: [scimSchemas.user],
    userName: newId(),
    active,
  });
  expect(status).toBe(expected === undefined ? 400 : 201);
  if (expected !== undefined) expect(body.active).toBe(expected);
});

test('groups in each other are refused, however they are written', async () => {
  const [one, two] = [await scim.createGroup('One'), await scim.createGroup('Two')];
  const members = [{ op: 'add', path: 'members', value: [{ value: two }] }];
  expect(await scim.patch(`/Groups/${one}`, ...members)).toMatchObject(inScim(400));
  const named = { op: 'add', path: 'members', value: [{ value: one, type: 'Group' }] };
  expect(await scim.patch(`/Groups/${two}`, named)).toMatchObject(inScim(400));
  const own = { op: 'add', path: 'members', value: [{ value: one }] };
  expect(await scim.patch(`/Groups/${one}`, own)).toMatchObject(inScim(400));
  expect(await scim.membersOf(one)).toEqual([]);
});

test('a group with one unknown member is not created, and not changed', async () => {
  const member = await scim.createUser(`${newId()}@example.com`);
  const displayName = newId();
  const members = [{ value: member }, { value: newId() }];
  const body = { schemas: [scimSchemas.group], displayName, members };
  expect(await scim.send('POST', '/Groups', body)).toMatchObject(inScim(400));
  const found = await scim.send('GET', `/Groups?filter=${encodeURIComponent(`displayName eq "${displayName}"`)}`);
  expect(found.body.totalResults).toBe(0);
  const group = await scim.createGroup(displayName, [member]);
  expect(await scim.send('PUT', `/Groups/${group}`, body)).toMatchObject(inScim(400));
  expect(await scim.membersOf(group)).toEqual([member]);
});

test('twenty members that are added at once are all there', async () => {
  const members = await Promise.all(Array.from({ length: 20 }, () => scim.createUser(`${newId()}@example.com`)));
  const group = await scim.createGroup('Crowd');
  const answers = await Promise.all(
    members.map((value) => scim.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value }] })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(await scim.membersOf(group)).toEqual(members.toSorted());
});

describe('who may push', () => {
  test('T-50: another organization has neither the ids nor the secret, and learns nothing', async () => {
    const other = await ScimClient.connect(world, await signedIn(world, await buildPerson(world)));
    const [user, group] = [await scim.createUser(`${newId()}@example.com`), await scim.createGroup('Secret')];
    for (const path of [`/Users/${user}`, `/Groups/${group}`]) {
      const foreign = await other.send('GET', path);
      const unknown = await other.send('GET', path.replace(/\w+$/, newId()));
      expect(foreign).toMatchObject(inScim(404));
      const textOf = ({ body }: typeof foreign) => body.detail.replace(/"\w+"/, '"…"');
      expect(textOf(foreign)).toBe(textOf(unknown));
    }
    const authorization = `Bearer ${other.token}`;
    expect(await scim.send('GET', '/Users', undefined, { authorization })).toMatchObject(inScim(401));
  });

  test('T-90: missing, empty, shortened, extended and changed secrets are refused alike', async () => {
    const { token } = scim;
    const wrong = ['', ' ', token.slice(0, -1), `${token}x`, token.toUpperCase(), `${token} ${token}`, token.slice(1)];
    const answers = await Promise.all(
      wrong.map((secret) => scim.send('GET', '/Users', undefined, { authorization: `Bearer ${secret}` })),
    );
    for (const { body, ...answer } of answers) {
      expect(answer).toMatchObject({ status: 401 });
      expect(body).toEqual(answers[0]!.body);
    }
    expect(await scim.send('GET', `/Users?access_token=${token}`, undefined, { authorization: '' })).toMatchObject({
      status: 401,
    });
  });

  test('T-90: a replaced secret stops working with its replacement', async () => {
    const other = await ScimClient.connect(world, client, newId());
    const { body } = await client.post(`/v1/integration-webhooks/${other.endpointId}/rotate`);
    expect(await other.send('GET', '/Users')).toMatchObject(inScim(401));
    expect(await other.send('GET', '/Users', undefined, { authorization: `Bearer ${body.secret}` })).toMatchObject({
      status: 200,
    });
  });

  test('T-90: the endpoint of another kind of integration takes no directory', async () => {
    const { body: chat } = await client.post('/v1/integrations', { name: newId() });
    const { body: webhook } = await client.post('/v1/integration-webhooks', { integration_id: chat.id, name: 'x' });
    const url = scim.url.replace(scim.endpointId, webhook.id);
    const answer = await fetch(`${url}/Users`, { headers: { authorization: `Bearer ${webhook.secret}` } });
    expect(answer.status).toBe(404);
  });

  test.each(['pending', 'errored', 'disabled', 'disconnecting', 'disconnected'] as const)(
    'an integration that is %s takes nothing, and says so',
    async (status) => {
      const other = await ScimClient.connect(world, client, newId());
      const user = await other.createUser(`${newId()}@example.com`);
      await asSystem(world, owner.organization.id, (data) => data.update(integration, other.integrationId, { status }));
      const refused = { ...inScim(403), body: { detail: expect.stringContaining(status) } };
      expect(await other.send('POST', '/Users', { schemas: [scimSchemas.user], userName: 'x' })).toMatchObject(refused);
      expect(await other.patch(`/Users/${user}`, { op: 'replace', path: 'active', value: false })).toMatchObject(
        refused,
      );
      expect(
        await asOwner(
          world,
          `select is_active from directory_accounts where integration_id = '${other.integrationId}'`,
        ),
      ).toEqual([{ is_active: true }]);
    },
  );
});

test.each(['/Users/%ff', `/Users/${'a'.repeat(300)}`, '/Nothing', '/Users/a/b'])(
  'an address that leads nowhere (%s) is refused in the form of SCIM, too',
  async (path) => {
    const answer = await scim.send('GET', path);
    expect(answer).toMatchObject(inScim(answer.status));
    expect(answer.status).toBeGreaterThanOrEqual(400);
  },
);
