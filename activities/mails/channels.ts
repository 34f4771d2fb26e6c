/**
 * Ways to notify people besides the list in the app, by the name that preferences have for them. A further one is a name here, and due work
 * for its messages and its digests, whose workflows settle the rows (`settle-sending.ts`, `settle-digest.ts`).
 */
export const sentChannelNames = ['email', 'chat'] as const;

export type SentChannelName = (typeof sentChannelNames)[number];

/** Note about a message on a channel that this release does not have. */
export const unknownChannel = 'unknown_channel';

export function isSentChannel(name: string): name is SentChannelName {
  return (sentChannelNames as readonly string[]).includes(name);
}
