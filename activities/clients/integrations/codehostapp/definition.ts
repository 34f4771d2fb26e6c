import { Type } from 'typebox';
import { defineIntegration } from '../definition.ts';
import { directorySettings } from '../directory-settings.ts';
import { filterExpr } from '../filter-setting.ts';
import { expiryOf } from '../oauth/kept-tokens.ts';
import { readDirectoryPage } from './code-host-directory.ts';
import { appInstallation, checkInstallation, renewedCredential, uninstall } from './app-installation.ts';
import { listRepositories, RepositoryListInput } from './repository-list.ts';

const closed = { additionalProperties: false } as const;

export const codeHostAppIntegration = defineIntegration({
  id: 'codehostapp',
  version: '1.0.0',
  name: 'Code host',
  description:
    'Reads the repositories, members and teams of a GitHub organization through an app that its owner installs. The app reports changes, which come in at once.',
  family: 'directory',
  documentationUrl: 'https://docs.github.com/apps/using-github-apps/installing-a-github-app-from-a-third-party',
  logo: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48" role="img" aria-label="Code host"><rect x="4" y="4" width="40" height="40" rx="8" fill="#3b3f46"/><path d="M18 16l-8 8 8 8M30 16l8 8-8 8" fill="none" stroke="#fff" stroke-width="4" stroke-linecap="round" stroke-linejoin="round"/></svg>',
  isOffered: ({ integrations }) => integrations.codehostapp.appid !== '',
  userInput: Type.Object({ filterExpr, ...directorySettings }, closed),
  connections: [
    {
      credentialRef: 'installation',
      name: 'App installation',
      description:
        'An owner of the organization at the code host installs the app and chooses its repositories. An app that is installed already is connected by changing its installation.',
      isRecommended: true,
      auth: appInstallation,
      check: checkInstallation,
      refresh: renewedCredential,
      expiresAt: expiryOf,
      revoke: uninstall,
    },
  ],
  // An installation has 900 points a minute, of which a request that reads takes one (docs.github.com/rest/using-the-rest-api).
  requestsPerSecond: 10,
  operations: [
    {
      name: 'repositoryList',
      description: 'Lists the repositories that the app may read, 100 on a page.',
      policy: 'inline',
      input: RepositoryListInput,
      run: listRepositories,
    },
    {
      name: 'directorySync',
      description: 'Brings in the members and teams of the organization, and the members of each team.',
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
      // Addresses that people show at the code host are not verified for their organization.
      mapExpr: `{
        "externalId": payload.id,
        "userName": payload.login,
        "displayName": has(payload.name) && payload.name != null ? payload.name : payload.login,
        "isActive": true,
        "attributes": {"type": has(payload.type) ? payload.type : null}
      }`,
    },
    {
      kind: 'directoryGroup',
      mapExpr: `{
        "externalId": payload.id,
        "displayName": has(payload.name) ? payload.name : null,
        "description": has(payload.description) ? payload.description : null,
        "attributes": {
          "slug": has(payload.slug) ? payload.slug : null,
          "privacy": has(payload.privacy) ? payload.privacy : null
        }
      }`,
    },
    { kind: 'directoryMembership', mapExpr: '{"account": payload.user.id, "group": payload.team}' },
  ],
  webhooks: [],
});
