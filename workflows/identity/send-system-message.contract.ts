import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

/** Topics of messages. Ids and names of parts of the server only: texts are made when they are sent. */
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
  | { readonly message: 'organizations-marked'; readonly since: string }
  /** A run of a sweep may have deleted organizations since then (RFC 3339). */
  | { readonly message: 'organizations-deleted'; readonly since: string }
  | PersonMessage;

/** A message to a person, in the chat of their organization: about one notification, or about those of a digest. */
export interface PersonMessage {
  readonly message: 'notification' | 'digest';
  readonly organizationId: string;
  readonly id: string;
  readonly round: number;
}

/** A message that the server begins by itself. */
export type OperatorMessage = Exclude<SystemMessage, PersonMessage | { readonly message: 'new-user' }>;

export interface SendSystemMessageInput {
  readonly queue: ActivityQueue;
  /** The same key is the same message. */
  readonly key: string;
  readonly about: SystemMessage;
}

/** Posts a message to the operator's chat (`integrations.chatruntime`), or to a person in the chat of their organization. */
export const sendSystemMessageContract = defineContract<SendSystemMessageInput>({
  name: 'sendSystemMessage',
  queue: 'integrations',
  workflowId: ({ key }) => `chat/${key}`,
});
