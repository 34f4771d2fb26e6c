import { Type } from 'typebox';
import type { Config } from '#config/objects/root.ts';
import { StartError } from '#runtime/start-error.ts';
import { announcedKeySet, keySetPath, ownKeySetPath } from '../../http/key-set-url.ts';
import { defineRoute, type Call, type Route } from '../../http/route.ts';

const description = 'JSON Web Key Set (RFC 7517). Clients may cache it as long as Cache-Control says.';

/** A path without characters that have a meaning in routes. */
const plainPath = /^(\/[\w.~-]+)+$/;

const keySet = {
  method: 'GET',
  tag: 'Service',
  summary: 'Public keys for access tokens',
  access: 'anonymous',
  limitClass: 'static',
  answers: { 200: Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.Unknown())) }) },
  errors: [],
  handle: (call: Call<unknown>) => {
    mayBeCached(call);
    return { status: 200, body: call.services.tokens.publicKeys };
  },
} as const;

export const jwks = defineRoute({ ...keySet, url: keySetPath, operationId: 'getKeySet', description });

/**
 * The same key set at the path of `auth.token.jwksendpoint`, if that is another one of this server.
 * @throws StartError for a path that this server answers otherwise, or cannot answer
 */
export function configuredKeySet(config: Config, isTaken: (path: string) => boolean): Route | undefined {
  const url = ownKeySetPath(config);
  if (url === undefined || url === keySetPath) return undefined;
  if (!plainPath.test(url) || isTaken(url))
    throw new StartError(
      `auth.token.jwksendpoint has the path ${url}, ${isTaken(url) ? 'which has another purpose' : 'which is not plain'}: choose another one, such as ${keySetPath}.`,
    );
  return defineRoute({ ...keySet, url, operationId: 'getConfiguredKeySet', description });
}

export const discovery = defineRoute({
  method: 'GET',
  url: '/.well-known/openid-configuration',
  operationId: 'getDiscoveryDocument',
  tag: 'Service',
  summary: 'Discovery document',
  description:
    'Issuer of the access tokens, and where its public keys are (OpenID Connect Discovery 1.0, section 3). Clients may cache it as long as Cache-Control says.',
  access: 'anonymous',
  limitClass: 'static',
  answers: {
    200: Type.Object({
      issuer: Type.String(),
      jwks_uri: Type.String(),
      response_types_supported: Type.Array(Type.String()),
      subject_types_supported: Type.Array(Type.String()),
      id_token_signing_alg_values_supported: Type.Array(Type.String()),
    }),
  },
  errors: [],
  handle: (call) => {
    mayBeCached(call);
    const { config, tokens } = call.services;
    return {
      status: 200,
      body: {
        issuer: config.current.auth.token.issuer,
        jwks_uri: announcedKeySet(config.current),
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: tokens.keys.algorithms,
      },
    };
  },
});

function mayBeCached({ services, reply }: Pick<Call<unknown>, 'services' | 'reply'>): void {
  const seconds = Math.floor(services.config.current.auth.token.jwkscachettl / 1_000);
  void reply.header('cache-control', `public, max-age=${seconds}`);
}
