import { integration } from '#entities/integrations/integration.ts';
import { notifyingDefinitions } from '#entities/notifications/notifying-definitions.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { PersonMessage, SystemMessage } from '#workflows/identity/send-system-message.contract.ts';
import type { ChatOutcome } from '../clients/chat/chat-message.ts';
import type { EmailContent } from '../clients/email/content.ts';
import type { ProviderAccess } from '../clients/integrations/provider-access.ts';
import { ProviderError } from '../clients/integrations/provider-error.ts';
import { dropDigest } from '../listeners/notifications/settle-digest.ts';
import { dropSending } from '../listeners/notifications/settle-sending.ts';
import { digestMessage, singleMessage } from '../listeners/notifications/told-messages.ts';
import { collectionContent } from '../mails/collection-content.ts';
import type { Links } from '../mails/define-mail.ts';
import { noticeContent } from '../mails/notice-content.ts';

/** A message to a person in the chat of their organization. */
interface ReadyMessage {
  readonly integrationId: string;
  readonly email: string;
  readonly text: string;
}

/** Items of a message. The application has the others. */
const maxItems = 20;

/** Pause that a chat gets that does not say how long it takes no messages, in milliseconds. */
const defaultPauseMs = 30_000;

/** The message at each attempt, with the current rights and preferences. @param unit of the server */
export async function messageToPerson(
  unit: UnitOfWork,
  about: PersonMessage,
  links: Pick<Links, 'apiUrl' | 'consoleUrl'>,
): Promise<ReadyMessage | 'not configured' | 'outdated'> {
  // The oldest one of several.
  const [chat] = await unit.data.find(integration, {
    where: {
      organizationId: { eq: about.organizationId },
      definitionId: { in: [...notifyingDefinitions] },
      status: { eq: 'connected' },
    },
    orderBy: [{ field: 'id', direction: 'asc' }],
    limit: 1,
  });
  if (!chat) {
    await (about.message === 'digest' ? dropDigest(unit, about) : dropSending(unit, 'chat', about));
    return 'not configured';
  }
  const pages = { links, unsubscribeToken: '' };
  if (about.message === 'notification') {
    const message = await singleMessage(unit, 'chat', about, pages);
    return message ? ready(chat.id, message.person, noticeContent(message.content)) : 'outdated';
  }
  const message = await digestMessage(unit, about, pages);
  if (!message) return 'outdated';
  const { content, person } = message;
  return ready(chat.id, person, 'items' in content ? collectionContent(content) : noticeContent(content));
}

export function isToPerson(about: SystemMessage): about is PersonMessage {
  return about.message === 'notification' || about.message === 'digest';
}

function ready(integrationId: string, { email }: { readonly email: string }, content: EmailContent): ReadyMessage {
  const { subject, paragraphs, items = [], action } = content;
  const lines = [
    subject,
    ...paragraphs,
    ...items.slice(0, maxItems).map(({ text, url = '' }) => `• ${text} ${url}`.trim()),
    ...(action && 'url' in action ? [action.url] : []),
  ];
  return { integrationId, email, text: lines.join('\n') };
}

/** One attempt. */
export async function postToPerson(
  integrations: Pick<ProviderAccess, 'use'>,
  { integrationId, ...message }: ReadyMessage,
): Promise<ChatOutcome> {
  try {
    const isKnown = await integrations.use(
      integrationId,
      async (context, _row, { notify }) => (await notify?.(context, message)) ?? false,
    );
    return isKnown ? outcome('sent', null) : outcome('refused', 'no_such_person');
  } catch (error) {
    if (isAppError(error) && error.code === 'integration_not_connected') return outcome('refused', error.code);
    if (!(error instanceof ProviderError)) throw error;
    return outcomeOf(error);
  }
}

/** An answer that is missing or cannot be understood says nothing about the message. */
function outcomeOf({ code, isPassing, isUndone, retryAfterMs = defaultPauseMs }: ProviderError): ChatOutcome {
  if (code === 'rate_limited') return outcome('limited', code, retryAfterMs);
  if (!isPassing) return outcome('refused', code);
  return isUndone ? outcome('failed', code) : outcome('unknown', null);
}

function outcome(state: ChatOutcome['state'], code: string | null, retryAfterMs = 0): ChatOutcome {
  return { state, code, retryAfterMs };
}
