import { decodeJwt } from 'jose';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { forgedToken, signingKeyOf } from '../kit/identity/access-tokens.ts';
import { buildPerson, type Person } from '../kit/people.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-30: no token is accepted whose signature was not made with our private key, whatever its header says.

let world: World;
let person: Person;

beforeAll(async () => {
  world = await openWorld();
  person = await buildPerson(world);
});
afterAll(() => world.close());

async function expectRefused(token: string, about: string): Promise<void> {
  const bearer = world.client();
  bearer.bearer = token;
  expectProblem(await bearer.graphql('{ self { id } }'), 'unauthenticated', about);
  const browser = world.client();
  browser.cookies.set('access_token', token);
  browser.cookies.set('session', await world.api.services.sessionCookies.seal(String(decodeJwt(token)['sid'])));
  expect((await browser.graphql('{ self { id } }')).data, about).toEqual({ self: null });
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

test('T-30: a token made by this test is accepted, so the tokens below are refused for their one fault', async () => {
  const client = world.client();
  client.bearer = await forgedToken(world, person);
  expect((await client.graphql('{ self { id } }')).data.self.id).toBe(person.user.id);
});

test('T-30: HMAC with the public key as its secret is refused', async () => {
  const { publicPem, privateKey } = signingKeyOf(world);
  const raw = createPublicKey(privateKey).export({ format: 'jwk' }).x ?? '';
  const secrets = [publicPem, publicPem.trim(), `\n ${publicPem}`, publicPem.replaceAll('\n', '\r\n'), raw];
  for (const secret of [...secrets.map((text) => Buffer.from(text)), Buffer.from(raw, 'base64url')]) {
    for (const alg of ['HS256', 'HS384', 'HS512']) {
      // The library wants long secrets; a short raw key is padded as HMAC itself would.
      const key = Buffer.concat([secret, Buffer.alloc(Math.max(0, 64 - secret.length))]);
      await expectRefused(await forgedToken(world, person, { header: { alg }, key }), alg);
    }
  }
});

test('T-30: a token without a signature is refused', async () => {
  const [, claims] = (await forgedToken(world, person)).split('.');
  for (const alg of ['none', 'None', 'NONE', 'nOnE', '', null]) {
    for (const signature of ['', 'AA', 'none']) {
      const token = `${part({ alg, kid: 'test', typ: 'at+jwt' })}.${claims}.${signature}`;
      await expectRefused(token, `${alg} ${signature}`);
    }
  }
});

test('T-30: a signature with another key, curve or algorithm is refused', async () => {
  const foreign = {
    EdDSA: generateKeyPairSync('ed25519').privateKey,
    RS256: generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey,
    PS256: generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey,
    ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
    ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey,
  };
  for (const [alg, key] of Object.entries(foreign)) {
    for (const kid of ['test', 'other', undefined])
      await expectRefused(await forgedToken(world, person, { header: { alg, kid }, key }), `${alg} ${kid}`);
  }
});

test('T-30: a header that contains or names its own key is refused', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const jwk = publicKey.export({ format: 'jwk' });
  const headers = [
    { jwk },
    { jku: 'https://evil.example.com/jwks.json' },
    { x5u: 'https://evil.example.com/cert.pem' },
    { kid: '../../etc/passwd' },
    { kid: "test' or 1=1" },
  ];
  for (const header of headers)
    await expectRefused(await forgedToken(world, person, { header, key: privateKey }), JSON.stringify(header));
});

test('T-30: other claims under a valid signature are refused', async () => {
  const other = await buildPerson(world);
  const [header, , signature] = (await forgedToken(world, person)).split('.');
  const [, claims] = (await forgedToken(world, other)).split('.');
  await expectRefused(`${header}.${claims}.${signature}`, 'exchanged');
});
