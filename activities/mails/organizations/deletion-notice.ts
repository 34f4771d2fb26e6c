import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { user } from '#entities/identity/user.ts';
import { localInstant, type Locale } from '#entities/kit/base/localized.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { organization } from '#entities/organizations/organization.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { Addressee, Occasion } from '../audience.ts';
import { billingAction, billingPage } from '../billing/billing-mail.ts';
import { sample, type MailContext } from '../define-mail.ts';
import { organizationName } from '../shown-name.ts';

type NoticeOccasion = Occasion<{ readonly userIds: readonly string[]; readonly delayS: number }>;

/** The address for invoices, unless it is that of a person who is notified anyway. */
export async function addressForInvoices({ event, key, unit }: NoticeOccasion): Promise<Addressee[]> {
  const { organizationId, payload } = event;
  if (organizationId === null) return [];
  const setting = await unit.data.findOne(organizationSetting, { organizationId: { eq: organizationId } });
  if (!setting?.billingEmail) return [];
  if (await isAddressOf(unit, payload.userIds, setting.billingEmail)) return [];
  return [{ key: `${key}/invoices`, about: { id: setting.id, round: 1 }, organizationId }];
}

/** Whether one of these people has the address: each address gets one mail. */
export async function isAddressOf({ data }: UnitOfWork, userIds: readonly string[], address: string): Promise<boolean> {
  if (userIds.length === 0) return false;
  const people = await data.find(user, { where: { id: { in: [...userIds] } }, limit: userIds.length });
  return people.some(({ email }) => email.toLowerCase() === address.toLowerCase());
}

export const delayOf = ({ event }: NoticeOccasion): number => event.payload.delayS * 1_000;

/** Values of notifications about a deletion to come, and their sample. */
export const withDay =
  ({
    record,
    event,
  }: {
    readonly record: Pick<RowOf<typeof organization>, 'name' | 'displayName'>;
    readonly event: { readonly payload: { readonly notBefore: string } };
  }) =>
  (locale: Locale) => ({
    name: record.displayName ?? record.name,
    day: localInstant(new Date(event.payload.notBefore), locale),
  });

export const sampleWithDay = { name: 'Example Compliance', day: 'June 1, 2026 at 12:00 PM UTC' };

interface Notice {
  readonly name: string;
  readonly day: string;
  readonly isAnnounced: boolean;
  readonly url: string;
}

/** @returns undefined when the organization was spared or deleted meanwhile */
export async function noticeOf(
  { unit, links, instant }: Pick<MailContext<unknown>, 'unit' | 'links' | 'instant'>,
  organizationId: string,
): Promise<Notice | undefined> {
  const setting = await unit.data.findOne(organizationSetting, { organizationId: { eq: organizationId } });
  const name = await organizationName({ organizationId }, unit);
  if (!setting || setting.deletionNotBefore === null || name === undefined) return undefined;
  return {
    name,
    // As nobody in particular: in the time zone of the organization.
    day: await instant(setting.deletionNotBefore, { userId: '' }),
    isAnnounced: setting.deletionRequesterId !== null,
    url: links.billingUrl,
  };
}

export function noticeText({ name, day, isAnnounced, url }: Notice) {
  return {
    subject: 'An organization will be deleted',
    paragraphs: [
      isAnnounced
        ? `An owner has announced the deletion of ${name}. It will be deleted on ${day} or later, with all organizations below it.`
        : `Nobody pays for ${name}. It will be deleted on ${day} or later, with all organizations below it.`,
      'All records, files and memberships are deleted with it.',
      isAnnounced
        ? 'Until then, an owner can withdraw the deletion.'
        : 'If a payment method or a subscription is added before that, nothing is deleted.',
    ],
    ...(isAnnounced ? {} : billingAction('Add a payment method', url)),
  };
}

export const noticeSample: Notice = {
  name: sample.organization,
  day: sample.until,
  isAnnounced: false,
  url: billingPage,
};
