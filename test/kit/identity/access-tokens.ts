import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { inject } from 'vitest';
import { session } from '#entities/identity/session.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asSystem } from '../as-person.ts';
import type { Person } from '../people.ts';
import type { World } from '../world.ts';

/** The key with which a world signs, for tests that sign what it would not. */
export function signingKeyOf(world: World): { readonly privateKey: KeyObject; readonly publicPem: string } {
  const pem = readFileSync(join(inject('stack').folder, world.name, 'signing-key.pem'), 'utf8');
  const publicKey = createPublicKey(pem);
  return { privateKey: createPrivateKey(pem), publicPem: publicKey.export({ type: 'spki', format: 'pem' }) as string };
}

export interface Forgery {
  /** Changes to a header that would be right; undefined leaves a member out. */
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly key?: KeyObject | Uint8Array;
}

/** An access token of a session as the world would issue it for this person, with one thing wrong. */
export async function forgedToken(world: World, person: Person, forgery: Forgery = {}): Promise<string> {
  const { user, organization } = person;
  const { token } = world.config.current.auth;
  const now = Math.floor(world.clock.now().getTime() / 1_000);
  const claims = withChanges(
    {
      sub: user.id,
      org: organization.id,
      sid: await sessionOf(world, person),
      jti: newId(),
      iss: token.issuer,
      aud: token.audience,
      iat: now,
      nbf: now,
      exp: now + 3_600,
    },
    forgery.claims,
  );
  const header = withChanges({ alg: 'EdDSA', kid: token.kid, typ: 'at+jwt' }, forgery.header);
  return new SignJWT(claims)
    .setProtectedHeader(header as { alg: string })
    .sign(forgery.key ?? signingKeyOf(world).privateKey);
}

/** A session of this person, without a refresh token. @returns its id */
async function sessionOf(world: World, { user, organization }: Person): Promise<string> {
  const now = world.clock.now();
  const { id } = await asSystem(world, organization.id, (data) =>
    data.create(session, {
      userId: user.id,
      address: '127.0.0.1',
      lastSeenAt: now,
      expiresAt: new Date(now.getTime() + 86_400_000),
      refreshTokenHash: 'none',
    }),
  );
  return id;
}

function withChanges(
  values: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...values, ...changes }).filter(([, value]) => value !== undefined));
}
