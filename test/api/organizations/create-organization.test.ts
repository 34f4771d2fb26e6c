import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { organization } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let person: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld({ environment: { CORE_ORMCONFIG_ENTITYTYPES: 'Vendor,Customer,Vendor' } });
  person = await buildPerson(world);
  client = await signedIn(world, person);
});
afterAll(() => world.close());

const mutation = `mutation ($input: CreateOrganizationInput!) {
  createOrganization(input: $input) { organization { id name displayName description isPersonal createdAt } } }`;

const create = (input: object, by = client) => by.graphql(mutation, { input });

/** What there is of an organization: rows, members, history and events. */
async function traces(name: string): Promise<Record<string, number> | undefined> {
  const [row] = await asOwner<Record<string, number>>(
    world,
    `with named as (select id from organizations where name = $1)
     select (select count(*)::int from named) as organizations,
       (select count(*)::int from memberships where organization_id in (select id from named)) as memberships,
       (select count(*)::int from organization_settings where organization_id in (select id from named)) as settings,
       (select count(*)::int from groups where organization_id in (select id from named)) as groups,
       (select count(*)::int from group_settings where organization_id in (select id from named)) as group_settings,
       (select count(*)::int from group_memberships where organization_id in (select id from named)) as group_memberships,
       (select count(*)::int from entity_types where organization_id in (select id from named)) as entity_types,
       (select count(*)::int from events where topic = 'organization.created' and entity_id in (select id from named)) as events,
       (select count(*)::int from history where entity_id in (select id from named)) as history`,
    [name],
  );
  return row;
}

const whole = {
  organizations: 1,
  memberships: 1,
  settings: 1,
  groups: 3,
  group_settings: 3,
  group_memberships: 2,
  entity_types: 2,
  events: 1,
  history: 1,
};
const nothing = Object.fromEntries(Object.keys(whole).map((name) => [name, 0]));

describe('a new organization', () => {
  test('belongs to its maker, who sees it at once', async () => {
    const { data } = await create({ name: 'Lovelace & Söhne \u{1F680}', description: 'Engines' });
    expect(data.createOrganization.organization).toMatchObject({
      name: 'Lovelace & Söhne \u{1F680}',
      displayName: null,
      description: 'Engines',
      isPersonal: false,
      createdAt: world.clock.now().toISOString(),
    });
    const { id } = data.createOrganization.organization;
    expect(
      (await client.graphql('query ($id: ID!) { organization(id: $id) { id } }', { id })).data.organization,
    ).toEqual({ id });
    expect(await asOwner(world, 'select user_id, role from memberships where organization_id = $1', [id])).toEqual([
      { user_id: person.user.id, role: 'owner' },
    ]);
    expect(await traces('Lovelace & Söhne \u{1F680}')).toEqual(whole);
  });

  test('has settings, entity types and the mail address of its maker for invoices', async () => {
    await create({ name: 'Well equipped' });
    const mine = await client.graphql(
      '{ organizations(where: { name: { eq: "Well equipped" } }) { edges { node { id } } } }',
    );
    const organizationId = mine.data.organizations.edges[0].node.id;
    const switched = await client.post('/v1/switch', { target_organization_id: organizationId });
    expect(switched.status).toBe(200);
    expect(
      (
        await client.graphql(
          '{ organizationSettings { edges { node { billingEmail timezone } } } entityTypes { edges { node { name } } } groups { edges { node { name managedAs } } } }',
        )
      ).data,
    ).toEqual({
      organizationSettings: { edges: [{ node: { billingEmail: person.user.email, timezone: 'UTC' } }] },
      entityTypes: { edges: expect.arrayContaining([{ node: { name: 'Vendor' } }, { node: { name: 'Customer' } }]) },
      groups: {
        edges: expect.arrayContaining([
          { node: { name: 'Admins', managedAs: 'ADMINS' } },
          { node: { name: 'Viewers', managedAs: 'VIEWERS' } },
          { node: { name: 'All Members', managedAs: 'ALL_MEMBERS' } },
        ]),
      },
    });
  });

  test('has the entity types that the configuration names at that moment', async () => {
    shows('ormconfig.entitytypes');
    await world.reconfigure({ CORE_ORMCONFIG_ENTITYTYPES: 'Partner' });
    await create({ name: 'After a reload' });
    await world.reconfigure({ CORE_ORMCONFIG_ENTITYTYPES: 'Vendor,Customer,Vendor' });
    expect(
      await asOwner(
        world,
        `select t.name from entity_types t join organizations o on o.id = t.organization_id where o.name = 'After a reload'`,
      ),
    ).toEqual([{ name: 'Partner' }]);
  });

  test('is invisible to everybody else', async () => {
    const { data } = await create({ name: 'Hidden' });
    const stranger = await signedIn(world, await buildPerson(world));
    const query = 'query ($id: ID!) { organization(id: $id) { id } }';
    const { id } = data.createOrganization.organization;
    expectGraphqlError(await stranger.graphql(query, { id }), 'not_found');
    expectGraphqlError(await world.client().graphql(query, { id }), 'unauthenticated');
  });

  test('is made by nobody who is not signed in', async () => {
    expectGraphqlError(await create({ name: 'Nobody' }, world.client()), 'unauthenticated');
    const bearer = world.client();
    bearer.bearer = 'not.a.token';
    expectProblem(await create({ name: 'Nobody' }, bearer), 'unauthenticated');
    expect(await traces('Nobody')).toEqual(nothing);
  });
});

describe('a name', () => {
  test.each([
    ['that is missing', {}],
    ['that is null', { name: null }],
    ['that is a list', { name: ['abc'] }],
    ['that is an object', { name: { eq: 'abc' } }],
    ['that is a number', { name: 12_345 }],
    ['that is empty', { name: '' }],
    ['of two characters', { name: 'ab' }],
    ['of 161 characters', { name: 'x'.repeat(161) }],
  ])('%s is refused', async (_about, input) => {
    expectGraphqlError(await create(input), 'invalid_input');
  });

  test.each([
    ['a NUL character', String.raw`abc\u0000`],
    ['half a surrogate pair', String.raw`abc\uD83D`],
  ])('with %s is refused, in the document and as a variable', async (_about, escaped) => {
    expectGraphqlError(
      await client.graphql(`mutation { createOrganization(input: { name: "${escaped}" }) { organization { id } } }`),
      'invalid_input',
    );
    const body = `{"query":${JSON.stringify(mutation)},"variables":{"input":{"name":"${escaped}"}}}`;
    expectProblem(
      await client.mutate({
        method: 'POST',
        url: '/graphql',
        headers: { 'content-type': 'application/json' },
        payload: body,
      }),
      'malformed_body',
    );
    expect(await asOwner(world, `select 1 from organizations where name like 'abc%'`)).toEqual([]);
  });

  test('that is refused is named, with the reason and nothing else', async () => {
    const { errors } = await create({ name: 'ab' });
    expect(errors[0].extensions.errors).toEqual([{ path: '/name', message: expect.stringContaining('3') }]);
  });

  test('of three and of 160 characters is taken', async () => {
    for (const name of ['abc', 'y'.repeat(160)]) {
      expect((await create({ name })).data.createOrganization.organization.name).toBe(name);
    }
  });

  test('that its maker gave before is refused, and free again when its organization is gone', async () => {
    const first = await create({ name: 'Taken' });
    const answer = await create({ name: 'Taken' });
    expectGraphqlError(answer, 'already_exists');
    expect(answer.errors[0].message).toBe('You already created an organization with this name: "Taken".');
    expect(await traces('Taken')).toEqual(whole);

    await world.runtime.database.transact({ caller: systemCaller('test'), requestId: 'remove' }, ({ data }) =>
      data.remove(organization, first.data.createOrganization.organization.id),
    );
    expect((await create({ name: 'Taken' })).errors).toBeUndefined();
  });

  test('tells nobody that an organization of somebody else has it', async () => {
    const [one, other] = [
      await signedIn(world, await buildPerson(world)),
      await signedIn(world, await buildPerson(world)),
    ];
    for (const by of [one, other]) expect((await create({ name: 'Secret project' }, by)).errors).toBeUndefined();
    expectGraphqlError(await create({ name: 'Secret project' }, one), 'already_exists');
  });

  test.each([
    ['white space', '  Same \t name ', 'Same name'],
    ['no-break spaces', 'Narrow\u00a0\u202fname', 'Narrow name'],
    ['capital letters', 'STRASSE name', 'Straße name'],
    ['a letter with its accent beside it', 'Cafe\u0301 name', 'Café name'],
  ])('is stored as it was written, and compared in one form, whatever its %s', async (_about, written, twin) => {
    expect((await create({ name: written })).data.createOrganization.organization.name).toBe(written);
    expectGraphqlError(await create({ name: twin }), 'already_exists');
  });

  test('with emoji and with joiners that change what is seen is taken', async () => {
    for (const name of ['⚠️ Overdue', 'Family 👨‍👩‍👧', 'می‌خواهم', 'क्‍षमा'])
      expect((await create({ name })).data?.createOrganization.organization.name, name).toBe(name);
  });

  test.each([
    ['a zero-width space', 'Ac\u200bme'],
    ['a zero-width joiner', 'Ac\u200dme'],
    ['a soft hyphen', 'Ac\u00adme'],
    ['a change of direction', 'Ac\u202eme'],
    ['a Hangul filler', 'Ac\u3164me'],
    ['a Cyrillic letter among Latin ones', 'Аcme'],
    ['a Greek letter among Latin ones', 'Αcme'],
    ['nothing but white space', ' \u2003 \t '],
  ])('with %s is refused', async (_about, name) => {
    const answer = await create({ name });
    expectGraphqlError(answer, 'invalid_input');
    expect(answer.errors[0].extensions.errors).toMatchObject([{ path: '/name' }]);
  });

  test('of any one script is taken, also beside digits, signs and the scripts of East Asia', async () => {
    for (const name of [
      'Рога и копыта',
      'Αφοί Παπαδόπουλοι',
      '株式会社 Acme',
      '회사 ABC',
      'شركة 24/7',
      'Ünïted Ltd. № 5',
    ])
      expect((await create({ name })).errors, name).toBeUndefined();
  });

  test('wished for by twenty at once, over two processes, is given to exactly one', async () => {
    const name = 'Wanted by all';
    const bearer = client.cookies.get('access_token');
    const elsewhere = (await world.openInstance()).client();
    const here = world.client();
    here.bearer = elsewhere.bearer = bearer;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => [create({ name }, here), create({ name }, elsewhere)]).flat(),
    );
    const refused = answers.filter(({ errors }) => errors !== undefined);
    expect(refused).toHaveLength(19);
    for (const answer of refused) expectGraphqlError(answer, 'already_exists');
    expect(await traces(name)).toEqual(whole);
  });
});

test('a mutation of several fields makes all or nothing', async () => {
  const several = (names: readonly string[]) =>
    client.graphql(
      `mutation { ${names.map((name, n) => `o${n}: createOrganization(input: { name: "${name}" }) { organization { id } }`).join(' ')} }`,
    );
  expect((await several(['First of two', 'Second of two'])).errors).toBeUndefined();
  expectGraphqlError(await several(['Third', 'Fourth', 'First of two']), 'already_exists');
  for (const name of ['Third', 'Fourth']) expect(await traces(name)).toEqual(nothing);
  for (const name of ['First of two', 'Second of two']) expect(await traces(name)).toEqual(whole);
});
