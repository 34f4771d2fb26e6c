import { membership, organization, user } from '#entities/index.ts';
import { systemCaller, type Role } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { testSecrets } from '../setup/secrets.ts';
import { hashOfTestPassword } from './identity/password-hashing.ts';
import type { TestClient } from './test-client.ts';
import type { World } from './world.ts';

export const testPassword: string = testSecrets.password;

export interface Person {
  readonly user: RowOf<typeof user>;
  readonly organization: RowOf<typeof organization>;
}

export interface PersonOptions {
  readonly email?: string;
  /** Joins this organization instead of getting one. */
  readonly organization?: RowOf<typeof organization>;
  readonly role?: Role;
  /** Whether the address is confirmed; default yes. */
  readonly isConfirmed?: boolean;
}

/** A person who can sign in, with an organization to act in; missing parents are made. */
export async function buildPerson(world: World, options: PersonOptions = {}): Promise<Person> {
  const passwordHash = await hashOfTestPassword();
  const { database } = world.runtime;
  return database.transact(
    { caller: systemCaller('test builder'), requestId: `build-${newId()}` },
    async ({ data }) => {
      const unique = newId().slice(-10).toLowerCase();
      const person = await data.create(user, {
        email: options.email ?? `person-${unique}@example.com`,
        displayName: `Person ${unique}`,
        passwordHash,
        emailConfirmedAt: options.isConfirmed === false ? null : world.clock.now(),
      });
      const home = options.organization ?? (await data.create(organization, { name: `organization-${unique}` }));
      await data.create(membership, { organizationId: home.id, userId: person.id, role: options.role ?? 'owner' });
      return { user: { ...person }, organization: { ...home } };
    },
  );
}

/** An organization that is part of another one, if any. It is a tenant of its own with its own records, so it is not made from within the other. */
export function buildPart(world: World, parentId: string | null): Promise<RowOf<typeof organization>> {
  return world.runtime.database.transact(
    { caller: systemCaller('test builder'), requestId: `build-${newId()}` },
    async ({ data }) => ({ ...(await data.create(organization, { name: `part-${newId()}`, parentId })) }),
  );
}

/** Deletes a person with what hangs on them. */
export function deletePerson(world: World, email: string): Promise<void> {
  const context = { caller: systemCaller('test builder'), requestId: `build-${newId()}` };
  return world.runtime.database.transact(context, async ({ data }) => {
    const person = await data.findOne(user, { email: { eq: email } });
    // Organizations keep an owner: those of the person go first.
    const own = await data.find(membership, {
      where: { userId: { eq: person?.id ?? '' }, role: { eq: 'owner' } },
      limit: 100,
    });
    for (const { organizationId } of own) await data.remove(organization, organizationId);
    await data.remove(user, person?.id ?? '');
  });
}

/** A client that is signed in as this person by cookie, in their organization while they have a role there. */
export async function signedIn(world: Pick<World, 'client'>, person: Person): Promise<TestClient> {
  const client = world.client();
  const answer = await client.post('/v1/login', { username: person.user.email, password: testPassword });
  if (answer.status !== 200) throw new Error(`sign-in failed: ${JSON.stringify(answer.body)}`);
  const { id } = person.organization;
  // They may have acted elsewhere last.
  if (answer.body.organization_id !== id) await client.post('/v1/switch', { target_organization_id: id });
  return client;
}
