import type { FakeIdentityProvider, FakePerson } from '../fakes/fake-identity-provider.ts';
import type { TestAnswer } from '../test-client.ts';
import type { World } from '../world.ts';

/** The first factor of support access in tests. */
export const supportFactor = { email: 'support@core.example', password: 'the shared password of support' };

const staff: FakePerson = { sub: 'staff', email: 'anna@staff.example', email_verified: true };

/** Configuration with support access, whose second factor is a fake provider. */
export function supportEnvironment({
  url,
  client,
}: Pick<FakeIdentityProvider, 'url' | 'client'>): Record<string, string | undefined> {
  const fields = {
    enabled: 'true',
    email: supportFactor.email,
    displayname: undefined,
    subjectid: '01J0000000000000000000SPRT',
    password: supportFactor.password,
    clientid: client.id,
    clientsecret: client.secret,
    issuerurl: url,
    discoveryendpoint: undefined,
    redirecturl: 'https://api.test/v1/support/callback',
    alloweddomain: 'staff.example',
  };
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [`CORE_AUTH_SUPPORTACCESS_${name.toUpperCase()}`, value]),
  );
}

/** Begins support access with both factors, in an organization that has given its consent. @returns the token */
export async function beginSupport(...given: Parameters<typeof completeSupport>): Promise<string> {
  const { status, body } = await completeSupport(...given);
  if (status !== 201) throw new Error(`the second factor failed: ${JSON.stringify(body)}`);
  return body.access_token;
}

/** Proves both factors of support access. @returns the response to the second */
export async function completeSupport(
  world: Pick<World, 'client'>,
  fake: FakeIdentityProvider,
  organizationId: string,
): Promise<TestAnswer> {
  const client = world.client();
  const begun = await client.post('/v1/support/login', {
    ...supportFactor,
    organization_id: organizationId,
    reason: 'a ticket of the customer',
  });
  if (begun.status !== 200) throw new Error(`the first factor failed: ${JSON.stringify(begun.body)}`);
  const { pathname, search } = fake.approve(begun.body.location, staff);
  return client.get(pathname + search);
}
