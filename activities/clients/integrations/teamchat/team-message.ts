import { Type, type Static } from 'typebox';
import type { ProviderContext } from '../definition.ts';
import { askGraph } from '../graph/graph-client.ts';
import { tenantIdPattern } from '../graph/login-server.ts';
import { keptText } from '../oauth/kept-tokens.ts';
import { invalidAnswer } from '../provider-answer.ts';
import { ProviderError } from '../provider-error.ts';

export const channelUrl = Type.String({
  maxLength: 2_000,
  examples: [
    'https://teams.microsoft.com/l/channel/19%3Aabc%40thread.tacv2/General?groupId=00000000-0000-4000-8000-000000000000',
  ],
  description: 'Link to the channel, as the team chat gives it ("Get link to channel").',
});

export const MessageInput = Type.Object(
  {
    text: Type.String({ minLength: 1, maxLength: 20_000, description: 'Message, as plain text.' }),
    channelUrl: Type.Optional(channelUrl),
  },
  { additionalProperties: false },
);

/** Channel of a team. */
interface ChatChannel {
  readonly teamId: string;
  readonly channelId: string;
}

/** Sends a message to a channel, once. @throws ProviderError */
export async function sendMessage(
  context: ProviderContext,
  input: Readonly<Record<string, unknown>>,
): Promise<{ readonly messageId: string; readonly url: string | null }> {
  // Checked by the schema of the operation.
  const { text, channelUrl: given = context.userInput['channelUrl'] } = input as Static<typeof MessageInput>;
  const channel = channelOf(given);
  if (!channel)
    throw new ProviderError(
      'refused',
      'No channel is named. Set the link to a channel in the integration or in the request.',
    );
  const path = `/teams/${channel.teamId}/channels/${encodeURIComponent(channel.channelId)}/messages`;
  const sent = await askGraph(context, keptText(context.credential, 'accessToken'), path, {
    body: { contentType: 'text', content: text },
  });
  const { id, webUrl } = (sent ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string') throw invalidAnswer('it does not name the message');
  return { messageId: id, url: typeof webUrl === 'string' ? webUrl : null };
}

/** The channel to which a link leads; undefined for what is no such link. It is never asked: its parts are. */
export function channelOf(link: unknown): ChatChannel | undefined {
  const url = typeof link === 'string' ? URL.parse(link) : null;
  const [, encoded = ''] = /^\/l\/channel\/([^/]+)/.exec(url?.pathname ?? '') ?? [];
  const teamId = url?.searchParams.get('groupId')?.toLowerCase() ?? '';
  const channelId = decoded(encoded);
  if (!tenantIdPattern.test(teamId) || !/^19:[\w.@-]{1,200}$/.test(channelId)) return undefined;
  return { teamId, channelId };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
