import type { WebClient } from '@slack/web-api';
import { Type, type Static } from 'typebox';
import { plainChatText } from '#entities/kit/base/plain-chat-text.ts';
import type { ProviderContext } from '../definition.ts';
import { invalidAnswer } from '../provider-answer.ts';
import { ProviderError } from '../provider-error.ts';
import { calling, openWorkspace } from './chat-client.ts';

export const channel = Type.String({
  pattern: '^[CGD][A-Z0-9]{2,30}$',
  examples: ['C0123456789'],
  description: 'Id of the channel, from its page "About" in the chat.',
});

export const MessageInput = Type.Object(
  {
    text: Type.String({ minLength: 1, maxLength: 20_000, description: 'Message, as plain text.' }),
    channel: Type.Optional(channel),
  },
  { additionalProperties: false },
);

/** Sends a message to a channel, once: the platform has no key by which it would know a repetition. @throws ProviderError */
export async function sendMessage(
  context: ProviderContext,
  input: Readonly<Record<string, unknown>>,
): Promise<{ readonly messageId: string; readonly channel: string }> {
  // Checked by the schema of the operation.
  const { text, channel: given = context.userInput['channel'] } = input as Static<typeof MessageInput>;
  if (typeof given !== 'string')
    throw new ProviderError(
      'refused',
      'No channel is named. Set the id of a channel in the integration or in the request.',
    );
  return post(await openWorkspace(context), given, text);
}

/** Sends a message to the person whom the workspace knows by this address, once. @returns whether it has one @throws ProviderError */
export async function notifyPerson(
  context: ProviderContext,
  { email, text }: { readonly email: string; readonly text: string },
): Promise<boolean> {
  const client = await openWorkspace(context);
  const id = await personOf(client, email);
  if (id === undefined) return false;
  // The channel of a person is the conversation with the app.
  await post(client, id, text);
  return true;
}

async function personOf(client: WebClient, email: string): Promise<string | undefined> {
  try {
    const { user } = await calling(() => client.users.lookupByEmail({ email }));
    if (typeof user?.id !== 'string') throw invalidAnswer('it does not name the person');
    return user.deleted === true ? undefined : user.id;
  } catch (error) {
    if (error instanceof ProviderError && error.code === 'not_found') return undefined;
    throw error;
  }
}

async function post(client: WebClient, to: string, text: string) {
  const sent = await calling(() =>
    client.chat.postMessage({ channel: to, text: plainChatText(text), unfurl_links: false, unfurl_media: false }),
  );
  if (typeof sent.ts !== 'string') throw invalidAnswer('it does not name the message');
  return { messageId: sent.ts, channel: sent.channel ?? to };
}
