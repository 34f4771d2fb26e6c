import { Type } from 'typebox';
import { defineRoute } from '../../http/route.ts';

export const jwks = defineRoute({
  method: 'GET',
  url: '/.well-known/jwks.json',
  tag: 'Service',
  summary: 'Public keys for access tokens',
  description: 'JSON Web Key Set (RFC 7517). Clients may cache it as long as Cache-Control says.',
  access: 'anonymous',
  answers: { 200: Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.Unknown())) }) },
  errors: [],
  handle: ({ services, reply }) => {
    void reply.header(
      'cache-control',
      `public, max-age=${Math.floor(services.config.current.auth.token.jwkscachettl / 1_000)}`,
    );
    return { status: 200, body: services.tokens.publicKeys };
  },
});
