import { Type } from 'typebox';
import { defineIntegration } from '../definition.ts';
import { directorySettings } from '../directory-settings.ts';
import { filterExpr } from '../filter-setting.ts';
import { expiryOf } from '../oauth/kept-tokens.ts';
import { readDirectoryPage } from './workspace-people.ts';
import { channel, MessageInput, notifyPerson, sendMessage } from './message-send.ts';
import { BotToken, checkWorkspace, endToken, renewedToken, workspaceSignIn } from './workspace-access.ts';

const closed = { additionalProperties: false } as const;

export const chatIntegration = defineIntegration({
  id: 'chat',
  version: '1.0.0',
  name: 'Chat',
  description: 'Sends messages to the channels of a Slack workspace, and brings in its people.',
  family: 'messaging',
  documentationUrl: 'https://docs.slack.dev/authentication/installing-with-oauth',
  logo: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48" role="img" aria-label="Chat"><path d="M8 8h32a4 4 0 0 1 4 4v18a4 4 0 0 1-4 4H26l-9 8v-8H8a4 4 0 0 1-4-4V12a4 4 0 0 1 4-4z" fill="#7a4b8c"/><circle cx="15" cy="21" r="3" fill="#fff"/><circle cx="24" cy="21" r="3" fill="#fff"/><circle cx="33" cy="21" r="3" fill="#fff"/></svg>',
  isOffered: ({ integrations }) => integrations.chat.clientid !== '',
  callbackUrl: ({ integrations }) => integrations.chat.redirecturl,
  userInput: Type.Object(
    {
      channel: Type.Optional(channel),
      includeGuestUsers: Type.Optional(
        Type.Boolean({ default: false, description: 'Also brings in guests of the workspace.' }),
      ),
      filterExpr,
      ...directorySettings,
    },
    closed,
  ),
  connections: [
    {
      credentialRef: 'workspace',
      name: 'Sign-in',
      description: 'A member of the workspace who may install apps lets the app in.',
      isRecommended: true,
      auth: workspaceSignIn,
      check: checkWorkspace,
      refresh: renewedToken,
      expiresAt: expiryOf,
      revoke: endToken,
    },
    {
      credentialRef: 'botToken',
      name: 'Bot token',
      description:
        'Token of an app that the workspace has made itself, with the scopes chat:write, chat:write.public, users:read and users:read.email.',
      credential: BotToken,
      check: checkWorkspace,
    },
  ],
  // A message each second to a channel, and several hundred a minute to a workspace (docs.slack.dev/apis/web-api/rate-limits).
  requestsPerSecond: 5,
  operations: [
    {
      name: 'messageSend',
      description: 'Sends a message to a channel.',
      policy: 'inline',
      limit: { uses: 60, windowMs: 60_000 },
      input: MessageInput,
      run: sendMessage,
    },
    {
      name: 'directorySync',
      description: 'Brings in the people of the workspace.',
      policy: 'run',
      isLooped: true,
      // Lists of people are of tier 2: 20 requests a minute.
      cost: 15,
      input: Type.Object({}, closed),
      ingests: ['directoryAccount'],
      readPage: (context, _input, cursor) => readDirectoryPage(context, cursor),
    },
  ],
  mappings: [
    {
      kind: 'directoryAccount',
      // People whom nobody has confirmed have addresses that they have typed in.
      mapExpr: `{
        "externalId": payload.id,
        "userName": has(payload.name) ? payload.name : null,
        "email": has(payload.profile) && has(payload.profile.email) && payload.profile.email != ""
          && (!has(payload.is_email_confirmed) || payload.is_email_confirmed == true) ? payload.profile.email : null,
        "displayName": has(payload.profile) && has(payload.profile.real_name) ? payload.profile.real_name : null,
        "givenName": has(payload.profile) && has(payload.profile.first_name) ? payload.profile.first_name : null,
        "familyName": has(payload.profile) && has(payload.profile.last_name) ? payload.profile.last_name : null,
        "isActive": !payload.deleted,
        "attributes": {"title": has(payload.profile) && has(payload.profile.title) ? payload.profile.title : null}
      }`,
    },
  ],
  webhooks: [],
  notify: notifyPerson,
});
