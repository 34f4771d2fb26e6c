import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { OpenfgaProxy } from '../../kit/fakes/openfga-proxy.ts';
import { TokenEndpoint } from '../../kit/fakes/token-endpoint.ts';
import { buildPerson } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import { openWorld, type World } from '../../kit/world.ts';

const secret = 'a-secret-of-the-client-0123456789';

let fga: OpenfgaProxy;
let issuer: TokenEndpoint;
let world: World;
beforeAll(async () => {
  [fga, issuer] = await Promise.all([OpenfgaProxy.start(inject('stack').openfgaUrl), TokenEndpoint.start()]);
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
  await Promise.all([fga.close(), issuer.close()]);
});

/** An instance with client credentials; nothing was asked before. */
async function identified(more: Record<string, string> = {}) {
  fga.requests.length = 0;
  issuer.asked.length = 0;
  const instance = await world.openInstance({
    environment: {
      CORE_AUTHZ_HOSTURL: fga.url,
      CORE_AUTHZ_CREDENTIALS_CLIENTID: 'core',
      CORE_AUTHZ_CREDENTIALS_CLIENTSECRET: secret,
      CORE_AUTHZ_CREDENTIALS_ISSUER: issuer.url,
      ...more,
    },
  });
  return { instance, store: instance.runtime.store as NonNullable<typeof instance.runtime.store> };
}

const bearers = () => [...new Set(fga.requests.map(({ authorization }) => authorization))];

test('clientid, clientsecret, audience and scopes are what the issuer is asked with, and its token is shown to the store', async () => {
  shows(
    'authz.credentials.clientid',
    'authz.credentials.clientsecret',
    'authz.credentials.audience',
    'authz.credentials.issuer',
    'authz.credentials.scopes',
  );
  const { store } = await identified({
    CORE_AUTHZ_CREDENTIALS_AUDIENCE: 'https://fga.example.com/',
    CORE_AUTHZ_CREDENTIALS_SCOPES: 'read write',
  });
  await Promise.all([store.ping(), store.ping()]);
  await store.ping();
  expect(issuer.asked).toEqual([
    {
      grant_type: 'client_credentials',
      client_id: 'core',
      client_secret: secret,
      audience: 'https://fga.example.com/',
      scope: 'read write',
    },
  ]);
  expect(bearers()).toEqual(['Bearer given-1']);
});

test('a token that expires is asked for again', async () => {
  const { store } = await identified();
  issuer.expiresInS = 1;
  await store.ping();
  const asked = issuer.asked.length;
  issuer.expiresInS = 3_600;
  await store.ping();
  await store.ping();
  expect(issuer.asked).toHaveLength(asked + 1);
  expect(bearers().at(-1)).toBe(`Bearer given-${asked + 1}`);
});

test('decisions are taken and tuples written with it', async () => {
  const { instance } = await identified();
  const person = await buildPerson({ ...world, runtime: instance.runtime });
  const tuple = {
    object: `organization:${person.organization.id}`,
    relation: 'owner',
    subject: `user:${person.user.id}`,
  };
  await instance.runtime.tuples?.apply();
  expect(await instance.runtime.store?.check(tuple)).toBe(true);
  expect(bearers()).toEqual(['Bearer given-1']);
});

test('an issuer that refuses, or is away, makes the store unavailable, and no secret is told', async () => {
  issuer.isRefusing = true;
  const { instance, store } = await identified();
  const refused = await store.ping().catch((error: unknown) => error as Error);
  issuer.isRefusing = false;
  expect(refused).toMatchObject({ code: 'authorization_unavailable' });
  const away = await identified({ CORE_AUTHZ_CREDENTIALS_ISSUER: 'http://127.0.0.1:1' });
  const unreached = await away.store.ping().catch((error: unknown) => error as Error);
  expect(unreached).toMatchObject({ code: 'authorization_unavailable' });

  const readiness = await instance.client().get('/readyz');
  const everything = [refused, unreached].map((error) => {
    const { cause } = error as Error;
    return JSON.stringify([error, (error as Error).stack, cause, { ...(cause as object) }, String(cause)]);
  });
  expect([...everything, JSON.stringify(world.logs), JSON.stringify(readiness.body)].join()).not.toContain(secret);
});
