import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ProviderAccess } from '#activities/clients/integrations/provider-access.ts';
import { ProviderError } from '#activities/clients/integrations/provider-error.ts';
import { readCredential } from '#entities/integrations/connections/stored-credential.ts';
import { integration, secret } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { armFailpoints } from '#entities/kit/base/failpoint.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { eventually } from '../../kit/eventually.ts';
import { openChatConnections, type ChatConnections } from '../../kit/integrations/chat-connection.ts';

/** Life of a token of the chat, in milliseconds, and that of the right to renew it. */
const [lifetimeMs, leaseMs] = [43_200_000, 60_000];

let ground: ChatConnections;
/** Those of two processes, each with its own connections to the database. */
let one: ProviderAccess;
let two: ProviderAccess;
let count = 0;

beforeAll(async () => {
  ground = await openChatConnections();
  one = ground.world.runtime.integrations;
  two = (await ground.world.openInstance()).runtime.integrations;
});
afterEach(() => {
  armFailpoints([]);
  ground.chat.before = undefined;
  ground.chat.always = undefined;
  ground.chat.rotates = true;
});
afterAll(() => ground.close());

/** A connected workspace whose token ends after some time, in milliseconds. */
async function endingIn(remainingMs: number): Promise<string> {
  const id = await ground.connect(`T${++count}`);
  ground.world.clock.advance(lifetimeMs - remainingMs);
  return id;
}

const tokenOf = (access: ProviderAccess, id: string) =>
  access.use(id, ({ credential }) => Promise.resolve(String(credential['accessToken'])));

async function stored(id: string) {
  const [row] = await asOwner<{ status: string; version: number; errored: number; isLeased: boolean }>(
    ground.world,
    `select status, refreshing_until is not null as "isLeased",
       (select record_version from secrets where integration_id = i.id and deleted_at is null) as version,
       (select count(*)::int from events where entity_id = i.id and topic = 'integration.errored') as errored
     from integrations i where id = $1`,
    [id],
  );
  return row;
}

const working = { status: 'connected', errored: 0, isLeased: false };

test('the row of a credential says when it was last used, to the minute, without a version', async () => {
  const id = await ground.connect(`T${++count}`);
  const client = await ground.client();
  const used = async () => {
    const { data } = (await client.get('/v1/secrets?first=100')).body;
    const { last_used_at: at, record_version: version } = data.find(
      (row: { integration_id: string }) => row.integration_id === id,
    );
    return { at: at === null ? null : Date.parse(at), version };
  };
  await tokenOf(one, id);
  const first = await used();
  expect(first).toEqual({ at: expect.any(Number), version: 1 });
  ground.world.clock.advance(30_000);
  await Promise.all([tokenOf(one, id), tokenOf(two, id)]);
  expect(await used()).toEqual(first);
  ground.world.clock.advance(31_000);
  await Promise.all([tokenOf(one, id), tokenOf(two, id)]);
  expect(await used()).toEqual({ at: (first.at ?? 0) + 61_000, version: 1 });
});

describe('a credential that ends', () => {
  test('is renewed once by fifty uses of two processes, and stored before it is used', async () => {
    const id = await endingIn(30_000);
    const [before, renewals] = [(await stored(id))?.version ?? 0, ground.renewals()];
    const uses = await Promise.all(
      Array.from({ length: 50 }, (_none, index) =>
        (index % 2 ? one : two).use(id, async ({ credential }) => ({
          token: credential['accessToken'],
          version: (await stored(id))?.version,
        })),
      ),
    );
    expect(ground.renewals()).toBe(renewals + 1);
    expect(new Set(uses.map(({ token }) => token)).size).toBe(1);
    expect(new Set(uses.map(({ version }) => version))).toEqual(new Set([before + 1]));
    expect(await stored(id)).toMatchObject(working);
    // It works at the other system.
    expect(await one.probe(id)).toMatchObject({ name: `Workspace T${count}` });
  });

  test('is renewed once when the other system refuses it before its time', async () => {
    const id = await endingIn(lifetimeMs);
    const old = await tokenOf(one, id);
    const renewals = ground.renewals();
    const attempt = (access: ProviderAccess) =>
      access.use(id, ({ credential }) => {
        if (credential['accessToken'] === old) return Promise.reject(new ProviderError('unauthorized', 'Refused.'));
        return Promise.resolve();
      });
    await Promise.all(Array.from({ length: 50 }, (_none, index) => attempt(index % 2 ? one : two)));
    expect(ground.renewals()).toBe(renewals + 1);
    expect(await stored(id)).toMatchObject(working);
  });

  test.each(['fail', 'cut', 'page', 'half'] as const)(
    'breaks no connection when the other system answers the renewal with "%s"',
    async (misbehaviour) => {
      const id = await endingIn(30_000);
      const held = await tokenOfTable(id);
      ground.chat.always = misbehaviour;
      // As long as it is valid it is used.
      expect(await tokenOf(one, id)).toBe(held);
      ground.world.clock.advance(31_000);
      await expect(tokenOf(one, id)).rejects.toMatchObject({ name: 'ProviderError', isPassing: true });
      expect(await stored(id)).toMatchObject(working);
      ground.chat.always = undefined;
      expect(await tokenOf(two, id)).not.toBe(held);
    },
  );
});

describe('a refusal', () => {
  test('of the newest credential stops the integration, and its person is notified once', async () => {
    const id = await endingIn(30_000);
    ground.chat.before = async ({ body }) =>
      body.includes('grant_type=refresh_token')
        ? { status: 200, body: { ok: false, error: 'invalid_refresh_token' } }
        : undefined;
    const uses = await Promise.allSettled(
      Array.from({ length: 10 }, (_none, index) => tokenOf(index % 2 ? one : two, id)),
    );
    expect(uses.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    expect(await stored(id)).toMatchObject({ status: 'errored', errored: 1, isLeased: false });
    ground.chat.before = undefined;
    await ground.connect(`T${count}`, id);
    expect(await stored(id)).toMatchObject({ status: 'connected', errored: 1 });
    await tokenOf(one, id);
  });

  test('of a credential that another process has replaced stops nothing', async () => {
    const id = await endingIn(30_000);
    const old = await tokenOfTable(id);
    const release = holdFirstRenewal();
    const late = tokenOf(one, id);
    await eventually(() => release.isHeld());
    // The first process has lost its right meanwhile, and the second one uses up the refresh token.
    ground.world.clock.advance(leaseMs + 1_000);
    const renewed = await tokenOf(two, id);
    expect(renewed).not.toBe(old);
    release.go();
    expect(await late).toBe(renewed);
    expect(await stored(id)).toMatchObject(working);
  });
});

test('a refusal of the credential of a former connection stops nothing', async () => {
  ground.chat.rotates = false;
  const id = await endingIn(lifetimeMs);
  const former = await tokenOf(one, id);
  await one.use(id, async ({ credential }) => {
    if (credential['accessToken'] !== former) return;
    // Disconnected, and connected again, meanwhile: its row has the version that the former one had.
    await forget(id);
    await ground.connect(`T${count}`, id);
    throw new ProviderError('unauthorized', 'Refused.');
  });
  expect(await stored(id)).toMatchObject(working);
});

/** Deletes its credential, as disconnecting does. */
const forget = (id: string) =>
  asSystem(ground.world, ground.owner.organization.id, async (data) => {
    const [row] = await data.find(secret, { where: { integrationId: { eq: id } }, limit: 1 });
    if (row) await data.remove(secret, row.id);
  });

describe('a process that dies', () => {
  test('while it renews keeps others waiting until its right has ended', async () => {
    const id = await endingIn(30_000);
    await asOwner(ground.world, 'update integrations set refreshing_until = $2 where id = $1', [
      id,
      new Date(ground.world.clock.now().getTime() + leaseMs),
    ]);
    const renewals = ground.renewals();
    const waiting = tokenOf(two, id);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(ground.renewals()).toBe(renewals);
    ground.world.clock.advance(leaseMs);
    await waiting;
    expect(ground.renewals()).toBe(renewals + 1);
    expect(await stored(id)).toMatchObject(working);
  });

  test('between the answer and the storing loses the credential, and the integration is connected again', async () => {
    const id = await endingIn(30_000);
    armFailpoints([{ name: 'integration-credential-renewed', action: 'throw', after: 0 }]);
    await expect(tokenOf(one, id)).rejects.toThrow('failpoint');
    armFailpoints([]);
    expect(await stored(id)).toMatchObject(working);
    // The chat gives a refresh token once.
    await expect(tokenOf(two, id)).rejects.toMatchObject({ code: 'unauthorized' });
    expect(await stored(id)).toMatchObject({ status: 'errored', errored: 1 });
    await ground.connect(`T${count}`, id);
    expect(await stored(id)).toMatchObject({ status: 'connected' });
  });

  test('does not use an integration that was disconnected meanwhile, and saves what has to be ended there', async () => {
    const id = await endingIn(30_000);
    const release = holdFirstRenewal();
    const late = tokenOf(one, id);
    await eventually(() => release.isHeld());
    const before = await stored(id);
    const client = await ground.client();
    expect((await client.post(`/v1/integrations/${id}/disconnect`, {})).status).toBe(202);
    release.go();
    await expect(late).rejects.toMatchObject({ code: 'integration_not_connected' });
    expect((await stored(id))?.version).toBe((before?.version ?? 0) + 1);
  });
});

/** Holds back the first request that renews a credential. */
function holdFirstRenewal(): { readonly go: () => void; readonly isHeld: () => boolean } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  let isHeld = false;
  ground.chat.before = ({ body }) => {
    if (isHeld || !body.includes('grant_type=refresh_token')) return undefined;
    isHeld = true;
    return promise;
  };
  return { go: () => resolve(undefined), isHeld: () => isHeld };
}

/** The token that the table has, as the chat has given it out. */
async function tokenOfTable(id: string): Promise<string> {
  const { chat, world } = ground;
  const database = world.runtime.database;
  const token = await database.transact({ caller: systemCaller('test'), requestId: newId() }, async (unit) => {
    const row = await unit.data.get(integration, id);
    return (await readCredential(unit, database.options, row)).credential['accessToken'];
  });
  expect(chat.secrets).toContain(token);
  return String(token);
}
