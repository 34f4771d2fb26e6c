import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { directoryAccount } from '#entities/index.ts';
import { undeleteOrganization } from '#runtime/undelete-organization.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { doomed, remove, type Doomed } from '../../kit/doomed-organization.ts';
import { eventually } from '../../kit/eventually.ts';
import { ChatGround, type SignedInChat } from '../../kit/integrations/chat-ground.ts';
import { ScimClient } from '../../kit/integrations/scim-client.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';

let ground: ChatGround;
let owner: Person;
let client: TestClient;
beforeAll(async () => {
  ground = await ChatGround.open();
});
afterAll(() => ground.close());
beforeEach(async () => {
  owner = await buildPerson(ground.world);
  client = await signedIn(ground.world, owner);
  ground.fake.endTokens();
});
afterEach(() => {
  ground.fake.always = undefined;
  ground.fake.rotates = false;
});

const disconnect = (id: string, by = client, more: object = {}) => by.post(`/v1/integrations/${id}/disconnect`, more);

const accountsOf = async (id: string): Promise<number> => {
  const [row] = await asOwner<{ count: number }>(
    ground.world,
    'select count(*)::int as count from directory_accounts where integration_id = $1 and deleted_at is null',
    [id],
  );
  return row?.count ?? -1;
};

const addAccount = ({ id }: Pick<SignedInChat, 'id'>) =>
  asSystem(ground.world, owner.organization.id, (data) =>
    data.create(directoryAccount, { integrationId: id, externalId: 'U1' }),
  );

test('an integration that is disconnected is gone: its token there, its credential here, its loop and its records', async () => {
  const chat = await ground.signIn(client, owner);
  await ground.loopIs(chat, 'RUNNING');
  await addAccount(chat);
  expect(ground.fake.tokens).toBe(1);
  expect(await disconnect(chat.id)).toMatchObject({ status: 202, body: { status: 'disconnecting' } });
  await ground.isGone(chat);
  expect(ground.fake.tokens).toBe(0);
  expect([await ground.keptOf(chat), await accountsOf(chat.id)]).toEqual([0, 0]);
  await ground.loopIs(chat, 'COMPLETED');
  expect(JSON.stringify(ground.world.logs)).not.toContain('xoxb-');
});

test('a token that has ended meanwhile is renewed, so that it can be ended there', async () => {
  ground.fake.rotates = true;
  const chat = await ground.signIn(client, owner);
  ground.world.clock.advance(20 * 3_600_000);
  ground.fake.forget();
  await disconnect(chat.id, await signedIn(ground.world, owner));
  await ground.isGone(chat);
  expect(ground.fake.requests.map(({ path }) => path)).toContain('/api/auth.revoke');
});

test('the account at the other system stays as long as another integration uses it', async () => {
  const chat = await ground.signIn(client, owner);
  const other = await buildPerson(ground.world);
  const shared = await ground.signIn(await signedIn(ground.world, other), other);
  await disconnect(chat.id);
  await ground.isGone(chat);
  expect(ground.fake.tokens).toBe(2);
  await disconnect(shared.id, shared.client);
  await ground.isGone(shared);
  expect(ground.fake.tokens).toBe(1);
});

test('a credential of another sort takes the place of the former one', async () => {
  const chat = await ground.connect(owner);
  const { body } = await client.post('/v1/integrations/auth/start', { definition_id: 'chat', integration_id: chat.id });
  const back = ground.fake.approve(body.auth_url, 'T024BE7LD');
  expect((await client.get(back.pathname + back.search)).status).toBe(302);
  expect(await ground.keptOf(chat)).toBe(1);
  await disconnect(chat.id);
  await ground.isGone(chat);
});

test.each(['silent', 'cut', 'fail', 'page'] as const)(
  'an integration is gone although the provider is, too (%s), and the log says that its token was not ended',
  async (misbehaviour) => {
    const chat = await ground.signIn(client, owner);
    ground.fake.always = misbehaviour;
    await disconnect(chat.id);
    await ground.isGone(chat);
    expect(await ground.keptOf(chat)).toBe(0);
    expect(ground.world.logs).toContainEqual(
      expect.objectContaining({ integration_id: chat.id, msg: 'the credential was not ended at the other system' }),
    );
  },
);

test('records stay when they are to be kept, and the integration can be connected again', async () => {
  const chat = await ground.signIn(client, owner);
  await addAccount(chat);
  await disconnect(chat.id, client, { keeps_records: true });
  expect(await ground.hasStatus(chat, 'disconnected')).toMatchObject({
    credentialRef: null,
    nextSyncAt: null,
    isPrimaryDirectory: false,
  });
  expect([await ground.keptOf(chat), await accountsOf(chat.id)]).toEqual([0, 1]);
  await ground.loopIs(chat, 'COMPLETED');
  const { body } = await client.post('/v1/integrations/auth/start', {
    definition_id: 'chat',
    integration_id: chat.id,
  });
  const back = ground.fake.approve(body.auth_url, 'T024BE7LD');
  await client.get(back.pathname + back.search);
  await ground.hasStatus(chat, 'connected');
  await disconnect(chat.id);
  await ground.isGone(chat);
});

test('a pushed directory has no address any more', async () => {
  const scim = await ScimClient.connect(ground.world, client);
  await scim.createUser('ann@example.com');
  await disconnect(scim.integrationId);
  await ground.isGone({ id: scim.integrationId, owner });
  expect(await scim.send('GET', '/Users')).toMatchObject({ status: 404 });
  expect(await accountsOf(scim.integrationId)).toBe(0);
});

const inOrganization = ({ owner: person, id }: Doomed) => ({ organization: { ...person.organization, id } });

const untilRemoved = (id: string) =>
  eventually(async () => {
    const rows = await asOwner(
      ground.world,
      `select 1 from organization_removals where removed_organization_id = $1 and status = 'completed'`,
      [id],
    );
    return rows.length === 1;
  });

const leftOf = async (id: string) => {
  const [row] = await asOwner<{ left: number }>(
    ground.world,
    `select (select count(*) from secrets where organization_id = $1 and deleted_at is null)::int
       + (select count(*) from integrations where organization_id = $1 and deleted_at is null)::int as left`,
    [id],
  );
  return row?.left;
};

test.each([undefined, 'silent', 'fail'] as const)(
  'the removal of an organization ends tokens there before the rows go, and does not wait for a provider that is gone (%s)',
  async (misbehaviour) => {
    const gone = await doomed(ground.world, 0);
    await ground.signIn(gone.client, inOrganization(gone));
    ground.fake.always = misbehaviour;
    expect((await remove(gone)).status).toBe(204);
    await untilRemoved(gone.id);
    expect(await leftOf(gone.id)).toBe(0);
    expect(ground.fake.tokens).toBe(misbehaviour === undefined ? 0 : 1);
  },
);

test('an organization whose removal is undone has its integrations, to be connected again', async () => {
  const { world } = ground;
  const gone = await doomed(world, 0);
  const chat = await ground.signIn(gone.client, inOrganization(gone));
  await remove(gone);
  await untilRemoved(gone.id);
  await undeleteOrganization(world.runtime.database, { organizationId: gone.id }, { operator: 'test', reason: 'test' });
  expect(await ground.hasStatus(chat, 'disconnected')).toMatchObject({ credentialRef: null });
  expect(ground.fake.tokens).toBe(0);
});
