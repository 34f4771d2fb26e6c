import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

/** Topics of messages to operators. Ids and names of parts of the server only: texts are made when they are sent. */
export type SystemMessage =
  /** Somebody has confirmed the address of a new account. */
  | { readonly message: 'new-user'; readonly userId: string }
  /** A listener fails on everything. */
  | { readonly message: 'listener-held'; readonly listener: string }
  /** Deliveries of a listener wait for an operator. */
  | { readonly message: 'delivery-waiting'; readonly listener: string; readonly topic: string }
  /** A provider of e-mail refuses the key, the sender or the account. */
  | { readonly message: 'email-refused'; readonly carrier: string }
  /** An activity has failed for good. */
  | { readonly message: 'work-failed'; readonly workflow: string }
  /** A run of a sweep may have marked organizations for deletion since then (RFC 3339). */
  | { readonly message: 'organizations-marked'; readonly since: string };

/** A message that the server begins by itself. */
export type OperatorMessage = Exclude<SystemMessage, { readonly message: 'new-user' }>;

export interface SendSystemMessageInput {
  readonly queue: ActivityQueue;
  /** The same key is the same message. */
  readonly key: string;
  readonly about: SystemMessage;
  /** Owner of the chat: the operator's when absent. */
  readonly organizationId?: string;
}

/** Posts a message to the operator's chat (`integrations.chatruntime`). */
export const sendSystemMessageContract = defineContract<SendSystemMessageInput>({
  name: 'sendSystemMessage',
  queue: 'integrations',
  workflowId: ({ key }) => `chat/${key}`,
});
