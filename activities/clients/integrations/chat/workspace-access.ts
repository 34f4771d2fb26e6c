import { Type } from 'typebox';
import type { AuthFlow, Credential, OpeningContext, ProviderAccount, ProviderContext } from '../definition.ts';
import { keptText } from '../oauth/kept-tokens.ts';
import { invalidAnswer } from '../provider-answer.ts';
import { ProviderError } from '../provider-error.ts';
import { authorizeUrl, calling, openChat, openWorkspace } from './chat-client.ts';

/** Messages to channels, also to public ones without the app, and the list of people with their addresses. */
const scope = 'chat:write,chat:write.public,users:read,users:read.email';

export const BotToken = Type.Object(
  {
    accessToken: Type.String({
      pattern: '^xoxb-[A-Za-z0-9-]{10,250}$',
      examples: ['xoxb-0000000000-example'],
      description: 'Bot token of an app of the workspace, from its page "OAuth & Permissions".',
    }),
  },
  { additionalProperties: false },
);

export const workspaceSignIn: AuthFlow = {
  begin: (context, { state, callbackUrl }) => {
    const { clientid } = context.config.integrations.chat;
    const url = authorizeUrl(context, { client_id: clientid, scope, state, redirect_uri: callbackUrl });
    return Promise.resolve({ url, kept: {} });
  },

  finish: async (context, answer, { callbackUrl }) => {
    const code = answer.get('code') ?? '';
    if (answer.has('error') || code === '')
      throw new ProviderError('refused', 'The workspace was not connected. Begin again, and allow the app.');
    return grant(context, { code, redirect_uri: callbackUrl });
  },
};

/** Renews a token that expires. Workspaces without rotation of tokens have none that do. @throws ProviderError unauthorized */
export function renewedToken(context: ProviderContext): Promise<Credential> {
  return grant(context, {
    grant_type: 'refresh_token',
    refresh_token: keptText(context.credential, 'refreshToken'),
  });
}

/** The workspace whose token it is. @throws ProviderError */
export async function checkWorkspace(context: ProviderContext): Promise<ProviderAccount> {
  const client = await openWorkspace(context);
  const { team_id: id, team: name } = await calling(() => client.auth.test());
  if (typeof id !== 'string' || id === '') throw invalidAnswer('it does not name the workspace');
  return { id, name: typeof name === 'string' ? name.slice(0, 256) : null };
}

/** Ends the token. @throws ProviderError */
export async function endToken(context: ProviderContext): Promise<void> {
  const client = await openWorkspace(context);
  try {
    await calling(() => client.auth.revoke());
  } catch (error) {
    // It has ended already.
    if (!(error instanceof ProviderError) || error.code !== 'unauthorized') throw error;
  }
}

async function grant(
  context: OpeningContext,
  request:
    | { readonly code: string; readonly redirect_uri: string }
    | { readonly grant_type: 'refresh_token'; readonly refresh_token: string },
): Promise<Credential> {
  const { clientid, clientsecret, appid } = context.config.integrations.chat;
  const client = await openChat(context);
  const given = await calling(() =>
    client.oauth.v2.access({ client_id: clientid, client_secret: clientsecret, ...request }),
  );
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, token_type: type } = given;
  if (typeof accessToken !== 'string' || type !== 'bot') throw invalidAnswer('it sent no token of a bot');
  if (appid !== '' && given.app_id !== appid)
    throw new ProviderError(
      'refused',
      'The workspace has let in another app than that of this server. Report it to those who operate the server: integrations.chat.appid has to be checked.',
    );
  if (typeof refreshToken !== 'string' || typeof seconds !== 'number') return { accessToken };
  const expiresAt = new Date(context.now().getTime() + seconds * 1_000).toISOString();
  return { accessToken, refreshToken, expiresAt };
}
