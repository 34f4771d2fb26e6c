import { Type } from 'typebox';
import { defineIntegration, type AuthFlow, type OpeningContext } from '../definition.ts';
import { tenantOf } from '../graph/graph-client.ts';
import { anyTenant, loginServer } from '../graph/login-server.ts';
import { endOf, expiryOf, keptText } from '../oauth/kept-tokens.ts';
import { openClient, refreshedTokens } from '../oauth/oauth-client.ts';
import { beginSignIn, finishSignIn } from '../oauth/sign-in.ts';
import { channelOf, channelUrl, MessageInput, sendMessage } from './team-message.ts';

/** Sends messages and reads the name of the tenant, also while nobody is there. */
const scope = 'offline_access ChannelMessage.Send User.Read';

const signIn: AuthFlow = {
  begin: (context, { state, callbackUrl }) => beginSignIn(context, serverOf(context), { state, callbackUrl, scope }),
  finish: async (context, answer, request) => {
    const { tokens } = await finishSignIn(context, serverOf(context), answer, { ...request, scope });
    return { ...tokens };
  },
};

function serverOf(context: Pick<OpeningContext, 'baseUrl' | 'config'>) {
  return loginServer(context, anyTenant, context.config.integrations.teamchat);
}

export const teamChatIntegration = defineIntegration({
  id: 'teamchat',
  version: '1.0.0',
  name: 'Team chat',
  description: 'Sends messages to channels of Microsoft Teams, in the name of the person who connects it.',
  family: 'messaging',
  documentationUrl: 'https://learn.microsoft.com/graph/api/channel-post-messages',
  logo: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48" role="img" aria-label="Team chat"><path d="M6 10a4 4 0 0 1 4-4h28a4 4 0 0 1 4 4v20a4 4 0 0 1-4 4H22l-10 9v-9h-2a4 4 0 0 1-4-4z" fill="#4a4f8f"/><path d="M14 16h20M14 24h13" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>',
  isOffered: ({ integrations }) => integrations.teamchat.clientid !== '',
  callbackUrl: ({ integrations }) => integrations.teamchat.redirecturl,
  userInput: Type.Object({ channelUrl: Type.Optional(channelUrl) }, { additionalProperties: false }),
  problemsOf: ({ channelUrl: given }) =>
    given === undefined || channelOf(given)
      ? []
      : [{ path: '/channelUrl', message: 'is not a link to a channel, which has /l/channel/ and a groupId' }],
  connections: [
    {
      credentialRef: 'signIn',
      name: 'Sign-in',
      description: 'The person who signs in is shown as the sender of messages, and must be a member of the teams.',
      isRecommended: true,
      auth: signIn,
      check: (context) => tenantOf(context, keptText(context.credential, 'accessToken')),
      refresh: async (context) => {
        const opened = await openClient(context, serverOf(context));
        const tokens = await refreshedTokens(context, opened, context.credential);
        return { ...tokens };
      },
      expiresAt: (credential) => expiryOf(credential),
      endsAt: (credential) => endOf(credential),
    },
  ],
  // A tenant takes 30 messages a second from all apps, and a channel 4 (learn.microsoft.com/graph/throttling-limits).
  requestsPerSecond: 4,
  operations: [
    {
      name: 'messageSend',
      description: 'Sends a message to a channel.',
      policy: 'inline',
      limit: { uses: 60, windowMs: 60_000 },
      input: MessageInput,
      run: sendMessage,
    },
  ],
  mappings: [],
  webhooks: [],
});
