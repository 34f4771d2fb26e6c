import { Type } from 'typebox';
import { defineIntegration } from '../definition.ts';
import { directorySettings } from '../directory-settings.ts';
import { checkProvider, claimsOf, localSignIn } from './local-sign-in.ts';

const closed = { additionalProperties: false } as const;

export const oidcLocalIntegration = defineIntegration({
  id: 'oidclocal',
  version: '1.0.0',
  name: 'Local OpenID Connect',
  description:
    'Sign-in at an OpenID Connect provider of the operator, for development. The people who have signed in are its directory.',
  family: 'directory',
  documentationUrl: 'https://openid.net/specs/openid-connect-core-1_0.html',
  logo: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48" role="img" aria-label="Local OpenID Connect"><circle cx="17" cy="24" r="11" fill="none" stroke="#3d6b4f" stroke-width="5"/><path d="M28 24h15v8M36 24v6" fill="none" stroke="#3d6b4f" stroke-width="5"/></svg>',
  isOffered: ({ integrations }) => integrations.oidclocal.enabled,
  callbackUrl: ({ integrations }) => integrations.oidclocal.redirecturl,
  userInput: Type.Object(directorySettings, closed),
  connections: [
    {
      credentialRef: 'signIn',
      name: 'Sign-in',
      description: 'Keeps what the provider says about the person who signs in.',
      isRecommended: true,
      auth: localSignIn,
      check: checkProvider,
    },
  ],
  operations: [
    {
      name: 'claimsInspect',
      description: 'Shows what the provider says about the person who signed in last.',
      policy: 'inline',
      input: Type.Object({}, closed),
      run: ({ credential }) => Promise.resolve({ claims: claimsOf(credential) }),
    },
    {
      name: 'directorySync',
      description: 'Brings in the person who signed in last, beside those who signed in before.',
      policy: 'run',
      isLooped: true,
      isPartial: true,
      input: Type.Object({}, closed),
      ingests: ['directoryAccount'],
      readPage: ({ credential }) =>
        Promise.resolve({ records: [{ kind: 'directoryAccount', payload: claimsOf(credential) }] }),
    },
  ],
  mappings: [
    {
      kind: 'directoryAccount',
      // Providers where people register themselves have addresses that nobody has verified.
      mapExpr: `{
        "externalId": payload.sub,
        "userName": has(payload.preferred_username) ? payload.preferred_username : null,
        "email": has(payload.email) && has(payload.email_verified) && payload.email_verified == true ? payload.email : null,
        "displayName": has(payload.name) ? payload.name : null,
        "givenName": has(payload.given_name) ? payload.given_name : null,
        "familyName": has(payload.family_name) ? payload.family_name : null,
        "isActive": true
      }`,
    },
  ],
  webhooks: [],
});
