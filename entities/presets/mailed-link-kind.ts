import { timestamp } from '../kit/model/fields.ts';
import { internalKind } from './internal-kind.ts';

/**
 * Common parts of kinds of e-mailed links: one record for each request, whether or not the address has an account, so that the duration
 * of the work does not reveal it. The token of a link is not stored: it is derived from the id with a secret key of the server.
 * @param why the records belong to no organization
 */
export function mailedLinkKind(why: string) {
  return { ...internalKind(why), events: ['created', 'updated'] } as const;
}

/** Their times. @param unsent when the first is null @param used when the last is set */
export function mailedLinkTimes(unsent: string, used: string) {
  return {
    sentAt: timestamp(`When the e-mail with this link was requested; null ${unsent}.`, {
      optional: true,
      immutable: true,
    }),
    expiresAt: timestamp('When the link expires.', { immutable: true }),
    usedAt: timestamp(used, { optional: true }),
  } as const;
}
