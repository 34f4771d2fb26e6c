import { Type } from 'typebox';
import { defineIntegration } from '../definition.ts';
import { directorySettings, disableGroupSync } from '../directory-settings.ts';
import { filterExpr } from '../filter-setting.ts';
import { endOf, expiryOf } from '../oauth/kept-tokens.ts';
import { checkCustomer } from './admin-client.ts';
import { readDirectoryPage } from './suite-directory.ts';
import { renewedTokens, suiteSignIn, takeBackConsent } from './suite-sign-in.ts';

const closed = { additionalProperties: false } as const;

export const officeSuiteIntegration = defineIntegration({
  id: 'officesuite',
  version: '1.0.0',
  name: 'Office suite',
  description:
    'Brings in the users, groups and memberships of a Google Workspace. An administrator lets the app read them.',
  family: 'directory',
  documentationUrl: 'https://developers.google.com/workspace/admin/directory/v1/guides',
  logo: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48" role="img" aria-label="Office suite"><rect x="6" y="6" width="16" height="16" rx="3" fill="#3a6ea5"/><rect x="26" y="6" width="16" height="16" rx="3" fill="#4d8c57"/><rect x="6" y="26" width="16" height="16" rx="3" fill="#b5892e"/><rect x="26" y="26" width="16" height="16" rx="3" fill="#a3484c"/></svg>',
  isOffered: ({ integrations }) => integrations.officesuite.clientid !== '',
  callbackUrl: ({ integrations }) => integrations.officesuite.redirecturl,
  userInput: Type.Object(
    {
      disableGroupSync,
      filterExpr,
      ...directorySettings,
    },
    closed,
  ),
  connections: [
    {
      credentialRef: 'signIn',
      name: 'Sign-in of an administrator',
      description: 'The person who signs in must be an administrator who may read users and groups.',
      isRecommended: true,
      auth: suiteSignIn,
      check: checkCustomer,
      refresh: renewedTokens,
      expiresAt: expiryOf,
      endsAt: endOf,
      revoke: takeBackConsent,
    },
  ],
  // A project has 2,400 requests a minute for all of its users.
  requestsPerSecond: 10,
  operations: [
    {
      name: 'directorySync',
      description: 'Brings in users, groups and the members of groups, also of groups in groups.',
      policy: 'run',
      isLooped: true,
      input: Type.Object({}, closed),
      ingests: ['directoryAccount', 'directoryGroup', 'directoryMembership'],
      readPage: (context, _input, cursor) => readDirectoryPage(context, cursor),
    },
  ],
  mappings: [
    {
      kind: 'directoryAccount',
      mapExpr: `{
        "externalId": payload.id,
        "userName": has(payload.primaryEmail) ? payload.primaryEmail : null,
        "email": has(payload.primaryEmail) ? payload.primaryEmail : null,
        "displayName": has(payload.name) && has(payload.name.fullName) ? payload.name.fullName : null,
        "givenName": has(payload.name) && has(payload.name.givenName) ? payload.name.givenName : null,
        "familyName": has(payload.name) && has(payload.name.familyName) ? payload.name.familyName : null,
        "isActive": !payload.suspended && !(has(payload.archived) && payload.archived == true),
        "attributes": {
          "isAdmin": has(payload.isAdmin) ? payload.isAdmin : null,
          "orgUnitPath": has(payload.orgUnitPath) ? payload.orgUnitPath : null
        }
      }`,
    },
    {
      kind: 'directoryGroup',
      mapExpr: `{
        "externalId": payload.id,
        "displayName": has(payload.name) ? payload.name : null,
        "email": has(payload.email) ? payload.email : null,
        "description": has(payload.description) ? payload.description : null
      }`,
    },
    {
      kind: 'directoryMembership',
      mapExpr:
        '{"account": payload.user.id, "group": payload.group, "role": has(payload.user.role) ? payload.user.role : null}',
    },
  ],
  webhooks: [],
});
