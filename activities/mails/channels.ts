import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import type { StartInput, WorkflowContract, WorkflowPriority } from '#workflows/kit/contract.ts';
import type { Sending } from '#entities/notifications/notification-sending-rows.ts';

/** Starts a workflow. A further start with the same input finds the first one. */
export type StartWorkflow = <Input>(contract: WorkflowContract<Input>, input: StartInput<Input>) => Promise<unknown>;

/**
 * A way to notify people besides the list in the app. The work that it starts reads the notification when it is sent, and settles its row
 * (`settle-sending.ts`, `settle-digest.ts`).
 */
interface SentChannel {
  readonly sendOne: (sending: Sending, start: StartWorkflow) => Promise<unknown>;
}

/** Priorities of the mails that carry notifications: they go after all others. */
export const carrierPriorities: Readonly<Record<string, WorkflowPriority>> = { notification: 4, digest: 5 };

const urgentPriority: WorkflowPriority = 2;

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
        priority: isUrgent ? urgentPriority : carrierPriorities['notification'],
      }),
  },
} as const satisfies Readonly<Record<string, SentChannel>>;

export type SentChannelName = keyof typeof sentChannels;

export const sentChannelNames = Object.keys(sentChannels) as SentChannelName[];

/** Note about a message on a channel that this release does not have. */
export const unknownChannel = 'unknown_channel';

export function isSentChannel(name: string): name is SentChannelName {
  return Object.hasOwn(sentChannels, name);
}

/** The channel of a row. @throws TypeError for one that this release does not have */
export function sentChannel(name: string): SentChannel {
  if (!isSentChannel(name)) throw new TypeError(`this release has no channel "${name}"`);
  return sentChannels[name];
}
