import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { membership, organization, user } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../kit/people.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { expectGraphqlError } from '../kit/graphql-error.ts';
import { verificationToken } from '../kit/identity/verification-token.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-01: who is locked out is out at the next request, with every credential, on every process, and stays out.

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

function asSystem<T>(work: (data: DataClient) => Promise<T>): Promise<T> {
  return world.runtime.database.transact({ caller: systemCaller('test'), requestId: 'lock-out' }, ({ data }) =>
    work(data),
  );
}

async function membershipOf(data: DataClient, person: Person): Promise<string> {
  return (await data.findOne(membership, { userId: { eq: person.user.id } }))?.id ?? '';
}

async function signInStatus(username: string, password: string): Promise<number> {
  return (await world.client().post('/v1/login', { username, password })).status;
}

/** A member of an organization that goes on without them. */
async function oneOfMany(): Promise<Person> {
  const { organization: home } = await buildPerson(world);
  return buildPerson(world, { organization: home, role: 'admin' });
}

describe('T-01: the next request is refused', () => {
  const whoAmI = '{ self { id } organizations { edges { node { id } } } memberships { edges { node { id } } } }';

  test.each(['inactive', 'deactivated', 'suspended', 'deleted'])('of a person who is %s', async (status) => {
    const person = await oneOfMany();
    const cookie = await signedIn(world, person);
    const bearer = (await world.openInstance()).client();
    bearer.bearer = cookie.cookies.get('access_token');
    expect((await bearer.graphql(whoAmI)).data.self.id).toBe(person.user.id);

    await asSystem(async (data) => {
      if (status === 'deleted') await data.remove(user, person.user.id);
      else await data.update(user, person.user.id, { status: status as 'inactive' });
    });
    expectProblem(await bearer.graphql(whoAmI), 'unauthenticated');
    // A browser is nobody from then on; its next sign-in is refused too.
    await cookie.get('/livez');
    expectGraphqlError(await cookie.graphql(whoAmI), 'unauthenticated');
    expect((await cookie.graphql('{ self { id } }')).data).toEqual({ self: null });
    expect(await signInStatus(person.user.email, testPassword)).toBe(401);
  });

  test.each(['membership', 'organization'])('of a person whose %s was deleted', async (kind) => {
    const person = await oneOfMany();
    const client = await signedIn(world, person);
    expect((await client.graphql(whoAmI)).data.organizations.edges).toHaveLength(1);
    if (kind === 'membership')
      await asSystem(async (data) => data.remove(membership, await membershipOf(data, person)));
    else await asSystem((data) => data.remove(organization, person.organization.id));
    const { data } = await client.graphql(whoAmI);
    expect(data.self.id).toBe(person.user.id);
    expect(data.organizations.edges).toEqual([]);
    const settings = await client.graphql('{ organizationSettings { edges { node { timezone } } } }');
    expectGraphqlError(settings, 'no_current_organization');
  });
});

describe('T-01: no public request lets a person in again who is', () => {
  test.each(['inactive', 'deactivated', 'suspended'] as const)('%s', async (status) => {
    const email = `again-${status}@example.com`;
    await world.client().post('/v1/register', { email, password: testPassword });
    await asSystem((data) => data.create(user, { email, displayName: email, status }));
    // The link that is in the mailbox already, another sign-up after the pause, and its link.
    const first = await verificationToken(world, email);
    await world.client().post('/v1/verify', { token: first, password: testPassword });
    expect(await signInStatus(email, testPassword)).toBe(401);
    world.clock.advance(61_000);
    const another = 'another horse battery staple';
    await world.client().post('/v1/register', { email, password: another });
    await world.client().post('/v1/resend', { email });
    const token = await verificationToken(world, email);
    await world.client().post('/v1/verify', { token, password: another });
    await world.client().post('/v1/verify', { token, new_password: another });
    for (const password of [testPassword, another]) expect(await signInStatus(email, password)).toBe(401);
    expect(await asSystem((data) => data.findOne(user, { email: { eq: email } }))).toMatchObject({ status });
  });
});
