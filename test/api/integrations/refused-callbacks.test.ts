import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { SignInStates, type SignInState } from '#api/auth/sign-in-state.ts';
import { integration, membership, session } from '#entities/index.ts';
import type { ErrorCode } from '#entities/kit/base/errors.ts';
import { asSystem } from '../../kit/as-person.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { come, connectCookie, LocalConnections, type Begun } from '../../kit/integrations/local-connection.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';

let local: LocalConnections;
let owner: Person;
let manager: Person;
let client: TestClient;

beforeAll(async () => {
  local = await LocalConnections.open();
  owner = await buildPerson(local.world);
  manager = await buildPerson(local.world, { organization: owner.organization, role: 'admin' });
  client = await signedIn(local.world, owner);
});
afterEach(() => local.fake.reset());
afterAll(() => local.close());

/** Brings the browser back, and sees that it is refused before the code is exchanged, and that nothing is saved. */
async function expectRefusal(
  begun: Begun,
  back: () => Promise<TestAnswer>,
  code: ErrorCode = 'provider_sign_in_failed',
): Promise<void> {
  const [before, exchanges] = [await local.stored(begun.id), local.exchanges()];
  expectProblem(await back(), code);
  expect(local.exchanges(), 'codes that were exchanged').toBe(exchanges);
  expect(await local.stored(begun.id)).toEqual(before);
}

describe('T-20: the return from another system is refused before the exchange', () => {
  test('without the cookie, and in another browser', async () => {
    const begun = await local.begin(client);
    const back = local.approve(begun);
    await expectRefusal(begun, () => come(local.world.client(), back));
    const same = await signedIn(local.world, owner);
    await expectRefusal(begun, () => come(same, back));
    const other = await signedIn(local.world, await buildPerson(local.world));
    await local.begin(other);
    await expectRefusal(begun, () => come(other, back));
    expect((await come(client, back)).status).toBe(302);
  });

  test('with another state, or without one', async () => {
    for (const state of ['x'.repeat(43), '', undefined]) {
      const begun = await local.begin(client);
      const back = local.approve(begun);
      if (state === undefined) back.searchParams.delete('state');
      else back.searchParams.set('state', state);
      await expectRefusal(begun, () => come(client, back));
    }
  });

  test('with the state of an earlier beginning in the same browser', async () => {
    const first = await local.begin(client);
    await local.begin(client);
    await expectRefusal(first, () => come(client, local.approve(first)));
  });

  test('a second time, and of fifty at once one is accepted', async () => {
    local.fake.acceptsCodesAgain = true;
    const begun = await local.begin(client);
    const back = local.approve(begun);
    const cookies = new Map(client.cookies);
    const exchanges = local.exchanges();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => {
        const one = local.world.client();
        for (const [name, value] of cookies) one.cookies.set(name, value);
        return come(one, back);
      }),
    );
    expect(answers.filter(({ status }) => status === 302)).toHaveLength(1);
    expect(local.exchanges()).toBe(exchanges + 1);
    await expectRefusal(begun, () => {
      client.cookies.set(connectCookie, cookies.get(connectCookie) ?? '');
      return come(client, back);
    });
    const next = await local.begin(client);
    const again = local.approve(next);
    again.searchParams.set('code', back.searchParams.get('code') ?? '');
    await expectRefusal(next, () => come(client, again));
  });

  test('after ten minutes', async () => {
    const begun = await local.begin(client);
    const back = local.approve(begun);
    local.world.clock.advance(10 * 60_000 + 1_000);
    await expectRefusal(begun, () => come(client, back));
  });

  test('after it was cancelled at the other system, whose words are not repeated', async () => {
    const begun = await local.begin(client);
    const back = local.approve(begun);
    back.searchParams.set('error', 'access_denied');
    back.searchParams.set('error_description', '<b>planted</b>');
    await expectRefusal(begun, async () => {
      const answer = await come(client, back);
      expect(JSON.stringify(answer.body)).not.toContain('planted');
      return answer;
    });
  });

  test('after the session that began it has ended', async () => {
    const one = await signedIn(local.world, owner);
    const begun = await local.begin(one);
    await one.post('/v1/logout');
    await expectRefusal(begun, () => come(one, local.approve(begun)));
    const two = await signedIn(local.world, owner);
    const next = await local.begin(two);
    const sessions = await two.get('/v1/sessions');
    await asSystem(local.world, owner.organization.id, async (data) => {
      for (const { id } of sessions.body.data) await data.remove(session, id);
    });
    await expectRefusal(next, () => come(two, local.approve(next)));
    client = await signedIn(local.world, owner);
  });
});

describe('T-21: only a state of an integration is accepted', () => {
  test('no other value of this server, and no state of a sign-in', async () => {
    for (const name of ['session', 'access_token', 'refresh_token', 'csrf_token']) {
      const begun = await local.begin(client);
      client.cookies.set(connectCookie, client.cookies.get(name) ?? '');
      await expectRefusal(begun, () => come(client, local.approve(begun)));
    }
    for (const provider of ['codehost', 'identity', 'single_sign_on', 'support'] as const) {
      const begun = await local.begin(client);
      await reseal(client, (state) => ({ ...state, provider }));
      await expectRefusal(begun, () => come(client, local.approve(begun)));
    }
    const begun = await local.begin(client);
    client.cookies.set('sign_in_state', client.cookies.get(connectCookie) ?? '');
    const { search } = local.approve(begun);
    for (const path of ['/v1/identity/callback', '/v1/codehost/callback'])
      expect((await client.get(path + search)).status).toBeGreaterThanOrEqual(400);
  });
});

/** Changes the sealed state of a browser: nobody but the server can do that. */
async function reseal(of: TestClient, change: (state: SignInState) => SignInState): Promise<void> {
  const states = new SignInStates(() => local.world.config.current.sessions, local.world.clock);
  const opened = await states.open(of.cookies.get(connectCookie) ?? '');
  if (!opened) throw new Error('the browser has no state');
  const { begunAt: _begunAt, ...state } = opened;
  of.cookies.set(connectCookie, await states.seal(change(state)));
}

describe('T-50: a state of another integration is refused before the exchange', () => {
  const connecting = (change: Partial<NonNullable<SignInState['connecting']>>) => (state: SignInState) => ({
    ...state,
    connecting: { integrationId: '', definitionId: '', credentialRef: '', kept: {}, ...state.connecting, ...change },
  });

  test('of another definition', async () => {
    const begun = await local.begin(client);
    await reseal(client, connecting({ definitionId: 'scim', credentialRef: 'endpoint' }));
    await expectRefusal(begun, () => come(client, local.approve(begun)), 'not_found');
  });

  test('of another organization, and of one of its installations', async () => {
    const stranger = await signedIn(local.world, await buildPerson(local.world));
    const theirs = await local.begin(stranger);
    const begun = await local.begin(client);
    await reseal(client, connecting({ integrationId: theirs.id }));
    await expectRefusal(theirs, () => come(client, local.approve(begun)), 'not_found');
    const next = await local.begin(client);
    const other = await buildPerson(local.world);
    await reseal(client, (state) => ({ ...state, organizationId: other.organization.id }));
    await expectRefusal(next, () => come(client, local.approve(next)), 'not_found');
  });

  test('of an installation that is deleted or being disconnected', async () => {
    const gone = await local.begin(client);
    expect((await client.mutate({ method: 'DELETE', url: `/v1/integrations/${gone.id}` })).status).toBe(204);
    await expectRefusal(gone, () => come(client, local.approve(gone)), 'not_found');
    for (const status of ['disconnecting', 'disabled'] as const) {
      const begun = await local.begin(client);
      await asSystem(local.world, owner.organization.id, (data) => data.update(integration, begun.id, { status }));
      await expectRefusal(begun, () => come(client, local.approve(begun)), 'integration_not_connected');
    }
  });
});

test('the return is refused before the exchange while the organization is archived, and so is another beginning', async () => {
  const archive = async (isArchived: boolean) => {
    const { status } = await client.mutate({
      method: 'PATCH',
      url: `/v1/organizations/${owner.organization.id}`,
      payload: { is_archived: isArchived },
    });
    expect(status).toBe(200);
  };
  const begun = await local.begin(client);
  const back = local.approve(begun);
  await archive(true);
  await expectRefusal(begun, () => come(client, back), 'organization_archived');
  const asked = local.fake.asked.length;
  for (const input of [{ name: 'another' }, { integration_id: begun.id }]) {
    const answer = await client.post('/v1/integrations/auth/start', { definition_id: 'oidclocal', ...input });
    expectProblem(answer, 'organization_archived');
  }
  expect(local.fake.asked).toHaveLength(asked);
  await archive(false);
  expect((await local.connect(client)).answer.status).toBe(302);
});

describe('a right that is lost meanwhile', () => {
  /** Makes the manager an auditor, or nobody. */
  const demote = (role: 'auditor' | null) =>
    asSystem(local.world, owner.organization.id, async (data) => {
      const held = await data.findOne(membership, {
        organizationId: { eq: owner.organization.id },
        userId: { eq: manager.user.id },
      });
      if (role) await data.update(membership, held?.id ?? '', { role });
      else await data.remove(membership, held?.id ?? '');
    });

  test('is missed before the exchange', async () => {
    const one = await signedIn(local.world, manager);
    const begun = await local.begin(one);
    await demote('auditor');
    await expectRefusal(begun, () => come(one, local.approve(begun)), 'not_found');
  });

  test('is missed between the exchange and the saving', async () => {
    manager = await buildPerson(local.world, { organization: owner.organization, role: 'admin' });
    const one = await signedIn(local.world, manager);
    const begun = await local.begin(one);
    local.fake.instead.set('/userinfo', (response) => {
      void demote('auditor').then(() =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ sub: 'person-1' })),
      );
    });
    const exchanges = local.exchanges();
    // Auditors see no integrations.
    expectProblem(await come(one, local.approve(begun)), 'not_found');
    expect(local.exchanges()).toBe(exchanges + 1);
    expect(await local.stored(begun.id)).toEqual({ status: 'pending', credentials: 0 });
  });

  test('is missed when the membership has ended', async () => {
    manager = await buildPerson(local.world, { organization: owner.organization, role: 'admin' });
    const one = await signedIn(local.world, manager);
    const begun = await local.begin(one);
    await demote(null);
    await expectRefusal(begun, () => come(one, local.approve(begun)), 'not_found');
  });
});

describe('T-22, T-25: what the other system answers is refused', () => {
  test('T-22: with a code of another sign-in, and for a downgraded request', async () => {
    const theirs = await local.begin(await signedIn(local.world, await buildPerson(local.world)));
    const begun = await local.begin(client);
    const back = local.approve(begun);
    back.searchParams.set('code', local.approve(theirs).searchParams.get('code') ?? '');
    expectProblem(await come(client, back), 'integration_refused');
    expect(await local.stored(begun.id)).toEqual({ status: 'pending', credentials: 0 });
    const next = await local.begin(client);
    const asked = new URL(next.authUrl);
    expect(asked.searchParams.get('code_challenge_method')).toBe('S256');
    asked.searchParams.delete('code_challenge');
    expectProblem(await come(client, local.approve({ authUrl: asked.href })), 'integration_refused');
    expect(await local.stored(next.id)).toEqual({ status: 'pending', credentials: 0 });
  });

  test.each([
    ['aud', 'another'],
    ['iss', 'https://evil.example'],
    ['exp', 1],
    ['iat', 1],
    ['nonce', 'another'],
  ])('T-25: when %s alone is %s', async (name, value) => {
    local.fake.claims = (claims) => ({ ...claims, [name]: value });
    const { id, answer } = await local.connect(client);
    expectProblem(answer, 'integration_refused');
    expect(await local.stored(id)).toEqual({ status: 'pending', credentials: 0 });
  });
});
