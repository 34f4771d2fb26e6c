import { ApplicationFailure, Context } from '@temporalio/activity';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { neverConnected } from '#entities/kit/base/never-connected.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import {
  beginSystemMessage,
  noteSystemMessage,
  type SystemMessageState,
} from '#entities/notifications/system-message-rows.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SendSystemMessageInput } from '#workflows/identity/send-system-message.contract.ts';
import { chatOutcome, chatRequest, type ChatOutcome } from '../clients/chat/chat-message.ts';
import { chatTarget, type ChatTarget } from '../clients/chat/chat-target.ts';
import { OutboundError, outboundRequest } from '../clients/outbound/outbound-request.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { defineActivities, type ActivityDependencies } from '../kit/activity-dependencies.ts';
import { systemMessageText } from './system-message-text.ts';

type ChatDependencies = Pick<ActivityDependencies, 'config' | 'database' | 'logger' | 'chat'>;

export type ChatActivities = ReturnType<typeof createChatActivities>;

const timeoutMs = 15_000;
const maxResponseBytes = 65_536;

/** The operator chooses the URL, which may be that of a server of their own network. */
const reach = { loopback: true, private: true, plain: true } as const;

/** Pause after a refusal: an operator has to change the configuration, which applies from the reload on. */
const usualOperatorPauseMs = 60_000;

/** Answer of outbound requests about a URL that is never asked. */
const unaskable: ReadonlySet<string> = new Set([
  'its address must not be asked',
  'its URL does not begin with https://',
]);

/** Messages to the operator's chat. Neither token nor URL is in a workflow's history, a row or the log. */
export const createChatActivities = defineActivities(({ config, database, logger, chat }: ChatDependencies) => {
  const inDatabase = <T>({ key }: SendSystemMessageInput, work: (unit: UnitOfWork) => Promise<T>, readOnly = false) =>
    database.transact({ ...workContext(systemCaller('system messages'), `chat-${key}`), readOnly }, work);

  const note = (input: SendSystemMessageInput, state: SystemMessageState, error: string | null) =>
    inDatabase(input, (unit) => noteSystemMessage(unit, input.key, state, error));

  const tellUncertain = ({ key }: SendSystemMessageInput) =>
    logger.error({ key }, 'nobody knows whether a system message was posted');

  return {
    /**
     * One attempt. A message that may have been sent is not sent again: the platform cannot be asked what it has got.
     * @throws AppError chat_not_connected for the chat of an organization
     */
    async postSystemMessage(
      input: SendSystemMessageInput,
    ): Promise<'sent' | 'uncertain' | 'failed' | 'outdated' | 'not configured'> {
      const target = chatTarget(config.current, chat, input.organizationId);
      if (!target) return 'not configured';
      const text = await inDatabase(input, (unit) => systemMessageText(input.about, unit), true);
      if (text === undefined) return 'outdated';
      const ended = await inDatabase(input, (unit) => beginSystemMessage(unit, input.key, input.about.message));
      if (ended === 'uncertain') tellUncertain(input);
      if (ended) return ended;
      const outcome = await post(target, text, () => database.options.clock.now());
      failpoint('chat-posted');
      const { state, code, retryAfterMs } = outcome;
      if (state === 'unknown') {
        await note(input, 'uncertain', 'no_answer');
        tellUncertain(input);
        return 'uncertain';
      }
      if (state === 'sent') {
        await note(input, 'sent', null);
        return 'sent';
      }
      await note(input, 'waiting', code);
      if (state === 'refused') logger.error({ key: input.key, reason: code }, 'the chat refuses system messages');
      const delayMs = state === 'refused' ? (chat.operatorPauseMs ?? usualOperatorPauseMs) : retryAfterMs;
      throw ApplicationFailure.create({
        type: code ?? state,
        message: `The chat did not take the message (${code}).`,
        nonRetryable: false,
        ...(delayMs > 0 ? { nextRetryDelay: delayMs } : {}),
      });
    },

    /** The workflow has given up. */
    giveUpSystemMessage: (input: SendSystemMessageInput): Promise<void> => note(input, 'failed', 'given_up'),
  };
});

async function post(target: ChatTarget, text: string, now: () => Date): Promise<ChatOutcome> {
  const { url, ...request } = chatRequest(target, text);
  try {
    const limits = { reach, timeoutMs, maxBytes: maxResponseBytes, signal: Context.current().cancellationSignal };
    const { status, headers, body } = await outboundRequest(url, request, limits);
    return chatOutcome(target, { status, body: body.toString('utf8'), retryAfter: headers['retry-after'] }, now());
  } catch (error) {
    // The cause of a failure would be part of the history, and names the server.
    if (neverConnected(error)) return { state: 'failed', code: 'unreachable', retryAfterMs: 0 };
    if (!(error instanceof OutboundError)) throw error;
    if (unaskable.has(error.message)) return { state: 'refused', code: 'wrong_url', retryAfterMs: 0 };
    return { state: 'unknown', code: null, retryAfterMs: 0 };
  }
}
