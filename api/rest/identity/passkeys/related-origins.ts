import { Type } from 'typebox';
import { defineRoute } from '../../../http/route.ts';
import { passkeySettings } from './passkey-requests.ts';

export const relatedOrigins = defineRoute({
  method: 'GET',
  url: '/.well-known/webauthn',
  operationId: 'getPasskeyOrigins',
  tag: 'Passkeys',
  summary: 'Origins that may request passkeys',
  description:
    'Related origins (WebAuthn, section 5.11): pages of these origins may use the passkeys of this server although their domain is another.',
  access: 'anonymous',
  limitClass: 'static',
  answers: { 200: Type.Object({ origins: Type.Array(Type.String(), { description: 'Web origins.' }) }) },
  errors: ['not_found'],
  handle: ({ services }) => ({ status: 200, body: { origins: passkeySettings(services).requestorigins } }),
});
