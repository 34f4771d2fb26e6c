import { Type } from 'typebox';
import { defineIntegration } from '../definition.ts';
import { directorySettings } from '../directory-settings.ts';

export const scim = defineIntegration({
  id: 'scim',
  version: '1',
  name: 'SCIM 2.0',
  description:
    'Your identity provider writes its directory to this server: users, groups and who is in them. It needs the URL and the secret that are shown once it is connected.',
  family: 'directory',
  logo: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="M4 7h10l-3-3M20 17H10l3 3" fill="none" stroke="currentColor" stroke-width="2"/></svg>',
  isOffered: () => true,
  userInput: Type.Object(directorySettings, { additionalProperties: false }),
  connections: [
    {
      credentialRef: 'endpoint',
      name: 'Endpoint',
      description: 'The identity provider proves itself with the secret of the endpoint.',
      check: () => Promise.resolve({ id: 'scim', name: null }),
    },
  ],
  operations: [],
  mappings: [],
  webhooks: [
    {
      name: 'scim',
      description: 'Users and groups of the identity provider (RFC 7644).',
      path: '/v1/integrations/scim/{endpointId}/v2',
    },
  ],
});
