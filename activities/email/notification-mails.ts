import type { notification } from '#entities/notifications/notification.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';
import { notificationTemplate } from '#entities/notifications/notification-template.ts';
import { fillTemplate } from '../listeners/notifications/notice-content.ts';
import { settleDigests, type CurrentDigest } from '../listeners/notifications/settle-digests.ts';
import { settleSending } from '../listeners/notifications/settle-sending.ts';
import { inertLine } from '../clients/email/inert-text.ts';
import { organizationName, unsubscribeTokenOf, type Links, type Mail } from './mail.ts';
import { notificationContents } from './notification-contents.ts';

/** Maximum number of notifications that a digest lists. */
const maxListed = 50;

/** Tells one person of one event, unless they read it meanwhile, lost the right to it, or want to be told later or never. */
export async function notificationMail(
  { about }: SendEmailInput,
  unit: UnitOfWork,
  links: Links,
): Promise<Mail | undefined> {
  const current = about && (await settleSending(unit, 'email', about));
  const name = current && (await organizationName(current.told, unit, 'your organization'));
  if (!current || name === undefined) return undefined;
  const { person, told } = current;
  return {
    to: person.email,
    name: person.displayName,
    content: notificationContents.notification.content({
      name,
      ...((await ownText(told, unit)) ?? { title: inertLine(told.title), lines: [inertLine(told.body ?? '')] }),
      url: pageOf(told.link, links),
      unsubscribeToken: unsubscribeTokenOf(links),
    }),
  };
}

/** What the organization wants such a mail to say; undefined without a template, and for notifications from before there were any. */
async function ownText({ organizationId, topic, variables }: RowOf<typeof notification>, { data }: UnitOfWork) {
  const where = { organizationId: { eq: organizationId }, channel: { eq: 'email' }, topic: { eq: topic } } as const;
  const template = variables === null ? undefined : await data.findOne(notificationTemplate, where);
  // The listener that told of it wrote a text for each variable.
  return template && fillTemplate(template, variables as Readonly<Record<string, string>>);
}

/** Tells one person of what was collected for them. */
export async function digestMail({ about }: SendEmailInput, unit: UnitOfWork, links: Links): Promise<Mail | undefined> {
  const current = about && (await settleDigests(unit, [about])).get(about.id);
  const name = current && (await nameForDigest(current, unit));
  return current && name !== undefined ? digestMailOf(current, name, links) : undefined;
}

/** The name of the organization, as digests show it; undefined for a deleted one. */
export function nameForDigest(of: { readonly organizationId: string }, unit: UnitOfWork): Promise<string | undefined> {
  return organizationName(of, unit, 'your organization');
}

/** @param name of the organization */
export function digestMailOf({ person, notifications, hasMore }: CurrentDigest, name: string, links: Links): Mail {
  return {
    to: person.email,
    name: person.displayName,
    content: notificationContents.digest.content({
      name,
      items: notifications.slice(0, maxListed).map((told) => itemOf(told, links)),
      hasMore: hasMore || notifications.length > maxListed,
      url: pageOf('/notifications', links),
      unsubscribeToken: unsubscribeTokenOf(links),
    }),
  };
}

function itemOf({ title, body, link }: RowOf<typeof notification>, links: Links) {
  const url = pageOf(link, links);
  const text = [title, body].filter((part) => part !== null && part !== '').join(': ');
  return { text: inertLine(text), ...(url === undefined ? {} : { url }) };
}

/** @param path of a page of the application */
function pageOf(path: string, { consoleUrl }: Links): string | undefined {
  return consoleUrl === '' ? undefined : `${consoleUrl}${path}`;
}
