import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { inject } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import type { Person } from './people.ts';
import type { World } from './world.ts';

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

/** An access token as the world would issue it for this person, with one thing wrong. */
export function forgedToken(world: World, { user, organization }: Person, forgery: Forgery = {}): Promise<string> {
  const { token } = world.config.current.auth;
  const now = Math.floor(world.clock.now().getTime() / 1_000);
  const claims = withChanges(
    {
      sub: user.id,
      org: organization.id,
      sid: newId(),
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

function withChanges(
  values: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...values, ...changes }).filter(([, value]) => value !== undefined));
}
