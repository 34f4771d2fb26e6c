import { ApplicationFailure, Context } from '@temporalio/activity';
import { publicApiUrl } from '#config/objects/public-api-url.ts';
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
import { withoutSlash } from '../clients/email/email-brand.ts';
import { OutboundError, outboundRequest } from '../clients/outbound/outbound-request.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { defineActivities, type ActivityDependencies } from '../kit/activity-dependencies.ts';
import { isToPerson, messageToPerson, postToPerson } from './message-to-person.ts';
import { systemMessageText } from './system-message-text.ts';

type ChatDependencies = Pick<ActivityDependencies, 'config' | 'database' | 'logger' | 'chat' | 'integrations'>;

/** A message that is true now, and the way to its chat. */
interface Ready {
  readonly post: () => Promise<ChatOutcome>;
}

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

/** Messages to chats. Neither token nor URL is in a workflow's history, a row or the log. */
export const createChatActivities = defineActivities((deps: ChatDependencies) => {
  const { config, database, logger, chat, integrations } = deps;
  const inDatabase = <T>(
    { key, about }: SendSystemMessageInput,
    work: (unit: UnitOfWork) => Promise<T>,
    readOnly = false,
  ) => {
    const organizationId = isToPerson(about) ? about.organizationId : null;
    const caller = systemCaller('system messages', organizationId);
    return database.transact({ ...workContext(caller, `chat-${key}`), readOnly }, work);
  };

  const note = (input: SendSystemMessageInput, state: SystemMessageState, error: string | null) =>
    inDatabase(input, (unit) => noteSystemMessage(unit, input.key, state, error));

  const tellUncertain = ({ key }: SendSystemMessageInput) =>
    logger.error({ key }, 'nobody knows whether a system message was posted');

  const prepare = async (input: SendSystemMessageInput): Promise<Ready | 'not configured' | 'outdated'> => {
    const { about } = input;
    if (isToPerson(about)) {
      const { consoleurl } = config.current.ormconfig.notifications;
      const links = { apiUrl: publicApiUrl(config.current), consoleUrl: withoutSlash(consoleurl) };
      const message = await inDatabase(input, (unit) => messageToPerson(unit, about, links));
      if (typeof message === 'string') return message;
      return { post: () => postToPerson(integrations, message) };
    }
    const target = chatTarget(config.current, chat);
    if (!target) return 'not configured';
    const text = await inDatabase(input, (unit) => systemMessageText(about, unit), true);
    return text === undefined ? 'outdated' : { post: () => post(target, text, () => database.options.clock.now()) };
  };

  return {
    /**
     * One attempt. A message that may have been sent is not sent again: the platform cannot be asked what it has got.
     */
    async postSystemMessage(
      input: SendSystemMessageInput,
    ): Promise<'sent' | 'uncertain' | 'failed' | 'outdated' | 'not configured'> {
      const ready = await prepare(input);
      if (typeof ready === 'string') return ready;
      const ended = await inDatabase(input, (unit) => beginSystemMessage(unit, input.key, input.about.message));
      if (ended === 'uncertain') tellUncertain(input);
      if (ended) return ended;
      const outcome = await ready.post();
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
      if (state === 'refused' && isToPerson(input.about)) {
        // Nobody changes the chat of an organization because of one message.
        await note(input, 'failed', code);
        logger.warn({ key: input.key, reason: code }, 'the chat of an organization refuses a notification');
        return 'failed';
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
