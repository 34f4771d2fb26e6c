import { maxDigests, sendDigestsContract } from '#workflows/email/send-digests.contract.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import type { StartInput, WorkflowContract } from '#workflows/kit/contract.ts';
import type { Digest } from '#entities/kit/outbox/notification-digests.ts';
import type { Sending } from '#entities/kit/outbox/notification-sendings.ts';

/** Starts a workflow. A further start with the same input finds the first one. */
export type StartWorkflow = <Input>(contract: WorkflowContract<Input>, input: StartInput<Input>) => void;

/**
 * A way to tell people besides the list in the app. What it starts reads the notification when it is sent, and settles its row
 * (`settle-sending.ts`).
 */
interface SentChannel {
  readonly sendOne: (sending: Sending, start: StartWorkflow) => void;
  /** @param digests no more than `digestsAtOnce` */
  readonly sendDigests: (digests: readonly Digest[], start: StartWorkflow) => void;
  readonly digestsAtOnce: number;
}

/** The channels, by the name that preferences have for them. A further channel is an entry here. */
export const sentChannels = {
  email: {
    sendOne: ({ notificationId, organizationId, userId, round, isUrgent }, start) =>
      start(sendEmailContract, {
        key: `notification/${notificationId}/${round}`,
        template: 'notification',
        organizationId,
        userId,
        about: { id: notificationId, round },
        ...(isUrgent ? { isUrgent } : {}),
      }),
    sendDigests: (digests, start) =>
      start(sendDigestsContract, {
        digests: digests.map(({ id, round, organizationId, userId }) => ({ id, round, organizationId, userId })),
      }),
    digestsAtOnce: maxDigests,
  },
} as const satisfies Readonly<Record<string, SentChannel>>;

export type SentChannelName = keyof typeof sentChannels;

export const sentChannelNames = Object.keys(sentChannels) as SentChannelName[];

/** What is noted of a message on a channel that this release does not have. */
export const unknownChannel = 'unknown_channel';

export function isSentChannel(name: string): name is SentChannelName {
  return Object.hasOwn(sentChannels, name);
}

/** The channel of a row. @throws TypeError for one that this release does not have */
export function sentChannel(name: string): SentChannel {
  if (!isSentChannel(name)) throw new TypeError(`this release has no channel "${name}"`);
  return sentChannels[name];
}
