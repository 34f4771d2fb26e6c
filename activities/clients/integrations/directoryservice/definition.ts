import { Type } from 'typebox';
import type { Credential } from '../definition.ts';
import { defineIntegration } from '../definition.ts';
import { directorySettings, disableGroupSync } from '../directory-settings.ts';
import { filterExpr } from '../filter-setting.ts';
import { tenantOf } from '../graph/graph-client.ts';
import { tenantNamePattern } from '../graph/login-server.ts';
import { expiryOf, keptText } from '../oauth/kept-tokens.ts';
import { ProviderError } from '../provider-error.ts';
import { readDirectoryPage } from './tenant-directory.ts';
import { renewedCredential, tenantConsent } from './tenant-consent.ts';

const closed = { additionalProperties: false } as const;

export const directoryServiceIntegration = defineIntegration({
  id: 'directoryservice',
  version: '1.0.0',
  name: 'Directory service',
  description:
    'Brings in the users, groups and memberships of a Microsoft Entra ID tenant. An administrator of the tenant lets the app read them.',
  family: 'directory',
  documentationUrl: 'https://learn.microsoft.com/entra/identity/enterprise-apps/grant-admin-consent',
  logo: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48" role="img" aria-label="Directory service"><rect x="6" y="6" width="36" height="36" rx="6" fill="#2f5d8a"/><circle cx="24" cy="18" r="5" fill="#fff"/><path d="M13 36c0-7 5-11 11-11s11 4 11 11z" fill="#fff"/></svg>',
  isOffered: ({ integrations }) => integrations.directoryservice.clientid !== '',
  callbackUrl: ({ integrations }) => integrations.directoryservice.redirecturl,
  userInput: Type.Object(
    {
      tenant: Type.Optional(
        Type.String({
          pattern: tenantNamePattern,
          maxLength: 255,
          examples: ['example.com'],
          description: 'Tenant, as its id or one of its domains; left out, it is that of the person who signs in.',
        }),
      ),
      includeGuestUsers: Type.Optional(
        Type.Boolean({ default: false, description: 'Also brings in guests of the tenant.' }),
      ),
      disableGroupSync,
      filterExpr,
      ...directorySettings,
    },
    closed,
  ),
  connections: [
    {
      credentialRef: 'tenant',
      name: 'Consent of an administrator',
      description:
        'A Global Administrator or a Privileged Role Administrator of the tenant consents to reading the directory, then signs in.',
      isRecommended: true,
      auth: tenantConsent,
      check: async (context) => {
        const account = await tenantOf(context, keptText(context.credential, 'accessToken'));
        if (account.id !== keptText(context.credential, 'tenantId'))
          throw new ProviderError('refused', 'The directory is that of another tenant. Connect the integration again.');
        return account;
      },
      refresh: (context) => renewedCredential(context, keptText(context.credential, 'tenantId')),
      expiresAt: (credential: Credential) => expiryOf(credential),
    },
  ],
  // A tenant has at least 3,500 resource units in ten seconds (learn.microsoft.com/graph/throttling-limits).
  requestsPerSecond: 100,
  operations: [
    {
      name: 'directorySync',
      description: 'Brings in users, groups and the members of groups, also of groups in groups.',
      policy: 'run',
      isLooped: true,
      // Lists of users and of members take up to 3 units.
      cost: 3,
      input: Type.Object({}, closed),
      ingests: ['directoryAccount', 'directoryGroup', 'directoryMembership'],
      readPage: (context, _input, cursor) => readDirectoryPage(context, cursor),
    },
  ],
  mappings: [
    {
      kind: 'directoryAccount',
      // Tenants without mailboxes have addresses as the names of users only; the names of guests are none.
      mapExpr: `{
        "externalId": payload.id,
        "userName": has(payload.userPrincipalName) ? payload.userPrincipalName : null,
        "email": has(payload.mail) && payload.mail != null ? payload.mail
          : has(payload.userPrincipalName) && payload.userPrincipalName != null
            && payload.userPrincipalName.matches("^[A-Za-z0-9._'-]+@[A-Za-z0-9.-]+$") ? payload.userPrincipalName : null,
        "displayName": has(payload.displayName) ? payload.displayName : null,
        "givenName": has(payload.givenName) ? payload.givenName : null,
        "familyName": has(payload.surname) ? payload.surname : null,
        "isActive": payload.accountEnabled,
        "attributes": {
          "userType": has(payload.userType) ? payload.userType : null,
          "jobTitle": has(payload.jobTitle) ? payload.jobTitle : null,
          "department": has(payload.department) ? payload.department : null
        }
      }`,
    },
    {
      kind: 'directoryGroup',
      mapExpr: `{
        "externalId": payload.id,
        "displayName": has(payload.displayName) ? payload.displayName : null,
        "email": has(payload.mail) ? payload.mail : null,
        "description": has(payload.description) ? payload.description : null,
        "attributes": {
          "securityEnabled": has(payload.securityEnabled) ? payload.securityEnabled : null,
          "groupTypes": has(payload.groupTypes) ? payload.groupTypes : null
        }
      }`,
    },
    { kind: 'directoryMembership', mapExpr: '{"account": payload.user.id, "group": payload.group}' },
  ],
  webhooks: [],
});
