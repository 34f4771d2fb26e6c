import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createAuthorizationActivities } from '#activities/authorization/authorization-activities.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { ReconciliationCursor } from '#workflows/maintenance/reconcile-authorization.contract.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { buildPerson } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const openfga = inject('stack').openfgaUrl;

async function ask<T>(path: string, body?: object): Promise<T> {
  const answer = await fetch(`${openfga}${path}`, body ? { method: 'POST', body: JSON.stringify(body) } : {});
  expect(answer.ok).toBe(true);
  return (await answer.json()) as T;
}

const makeStore = async () => (await ask<{ id: string }>('/stores', { name: `settings-${newId()}` })).id;

const modelsOf = async (storeId: string) =>
  (await ask<{ authorization_models: { id: string }[] }>(`/stores/${storeId}/authorization-models`))
    .authorization_models;

/** An instance that has spoken with its store. */
async function connected(environment: Record<string, string>): Promise<Instance> {
  const instance = await world.openInstance({ environment });
  await instance.runtime.store?.ping();
  return instance;
}

const checksOf = async (instance: Pick<Instance, 'client'>) => (await instance.client().get('/readyz')).body.checks;

test('enabled: off, no store is asked, or waited for', async () => {
  shows('authz.enabled');
  expect(await checksOf(world)).toHaveProperty('fga');
  const instance = await world.openInstance({ environment: { CORE_AUTHZ_ENABLED: 'false' } });
  expect(await checksOf(instance)).not.toHaveProperty('fga');
  expect(instance.runtime.store).toBeUndefined();
});

test('storename: finds the store of that name, or makes it', async () => {
  shows('authz.storename');
  const name = `named-${newId()}`;
  const stores = () => ask<{ stores: object[] }>(`/stores?name=${name}`);
  expect((await stores()).stores).toHaveLength(0);
  await connected({ CORE_AUTHZ_STORENAME: name });
  await connected({ CORE_AUTHZ_STORENAME: name });
  expect((await stores()).stores).toHaveLength(1);
});

test('storeid: is the store that is used, whatever its name', async () => {
  shows('authz.storeid');
  const [used, other] = [await makeStore(), await makeStore()];
  await connected({ CORE_AUTHZ_STOREID: used });
  expect(await modelsOf(used)).toHaveLength(1);
  expect(await modelsOf(other)).toHaveLength(0);
});

describe('a store belongs to one database', () => {
  /** A world with a database of another installation, and the store names or ids given. */
  async function elsewhere(environment: Record<string, string>, work: (other: World) => Promise<void>): Promise<void> {
    const other = await openWorld({ environment, skipVerify: true });
    try {
      await asOwner(other, `update installation set id = $1`, [newId().toLowerCase()]);
      await work(other);
    } finally {
      await other.close();
    }
  }
  const tuplesOf = async ({ runtime: { store } }: World) => {
    const found: string[] = [];
    for await (const { object, relation, subject } of store?.tuples() ?? [])
      found.push(`${object} ${relation} ${subject}`);
    return found.toSorted();
  };

  test('storename: another database with the same name gets a store of its own', async () => {
    await buildPerson(world);
    await world.runtime.tuples?.apply();
    const before = await tuplesOf(world);
    expect(before.length).toBeGreaterThan(0);
    await elsewhere({ CORE_AUTHZ_STORENAME: world.name }, async (other) => {
      await buildPerson(other);
      await other.runtime.tuples?.apply();
      const { store } = other.runtime;
      const activities = createAuthorizationActivities({
        database: other.runtime.database,
        store,
        applyTuples: async () => 0,
      });
      for (let next: ReconciliationCursor | null = { step: 'store', after: null }; next;)
        ({ next } = await activities.reconcilePage({ cursor: next }));
      expect(await tuplesOf(world)).toEqual(before);
      expect((await tuplesOf(other)).filter((tuple) => before.includes(tuple))).toEqual([]);
      const [installation] = await asOwner<{ id: string }>(other, 'select id from installation');
      const { stores } = await ask<{ stores: object[] }>(`/stores?name=${world.name}-${installation?.id}`);
      expect(stores).toHaveLength(1);
    });
  });

  test('storeid: the store of another database is refused, at the start and at every call', async () => {
    const storeId = await makeStore();
    await connected({ CORE_AUTHZ_STOREID: storeId });
    await elsewhere({ CORE_AUTHZ_STOREID: storeId }, async ({ runtime: { store } }) => {
      const refused = expect.stringContaining(`The authorization store ${storeId} belongs to another database`);
      await expect(store?.refuseForeignStore()).rejects.toMatchObject({
        code: 'authorization_unavailable',
        message: refused,
      });
      const call = expect(store?.tuplePage(undefined)).rejects;
      await call.toMatchObject({ code: 'authorization_unavailable', cause: { message: refused } });
    });
    await (await connected({ CORE_AUTHZ_STOREID: storeId })).runtime.store?.refuseForeignStore();
  });

  test('a store that holds tuples but no owner belongs to the database that has tuples', async () => {
    const storeId = await makeStore();
    const model = await ask<{ authorization_model_id: string }>(`/stores/${storeId}/authorization-models`, {
      schema_version: '1.1',
      type_definitions: [
        { type: 'user' },
        {
          type: 'organization',
          relations: { owner: { this: {} } },
          metadata: { relations: { owner: { directly_related_user_types: [{ type: 'user' }] } } },
        },
      ],
    });
    const tuple = { object: `organization:${newId()}`, relation: 'owner', user: `user:${newId()}` };
    await ask(`/stores/${storeId}/write`, { ...model, writes: { tuple_keys: [tuple] } });
    await elsewhere({ CORE_AUTHZ_STOREID: storeId }, async ({ runtime: { store } }) => {
      await expect(store?.ping()).rejects.toMatchObject({ code: 'authorization_unavailable' });
    });
    await buildPerson(world);
    await connected({ CORE_AUTHZ_STOREID: storeId });
  });
});

test('createnewmodel: on, every start writes one; off, the one that is right stays', async () => {
  shows('authz.createnewmodel');
  const storeId = await makeStore();
  for (const [isOn, count] of [
    ['false', 1],
    ['false', 1],
    ['true', 2],
    ['true', 3],
  ] as const) {
    await connected({ CORE_AUTHZ_STOREID: storeId, CORE_AUTHZ_CREATENEWMODEL: isOn });
    expect(await modelsOf(storeId)).toHaveLength(count);
  }
});

test('modelid: is the model that is used, and none is looked for or written', async () => {
  shows('authz.modelid');
  const storeId = await makeStore();
  await connected({ CORE_AUTHZ_STOREID: storeId, CORE_AUTHZ_MODELID: newId() });
  expect(await modelsOf(storeId)).toEqual([]);
});

test('hosturl is the server that is asked, and credentials.apitoken how', async () => {
  shows('authz.hosturl', 'authz.credentials.apitoken');
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers.authorization);
    response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const token of ['', 'a-token-for-the-store']) {
    const environment = { CORE_AUTHZ_HOSTURL: url, CORE_AUTHZ_CREDENTIALS_APITOKEN: token };
    await expect(connected(environment)).rejects.toMatchObject({ code: 'authorization_unavailable' });
  }
  expect(new Set(asked)).toEqual(new Set([undefined, 'Bearer a-token-for-the-store']));
  server.closeAllConnections();
  server.close();
});
