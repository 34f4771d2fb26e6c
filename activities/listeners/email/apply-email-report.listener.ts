import { accountEmail } from '#entities/email/account-email.ts';
import { email } from '#entities/email/email.ts';
import { webhookEvent } from '#entities/integrations/webhook-event.ts';
import { isId } from '#entities/kit/base/ids.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineListener } from '../listener.ts';
import { isReportedOutcome, mergedReport, suppressionAfter } from './email-reports.ts';
import { suppressAddress } from './suppress-address.ts';

const providers: ReadonlySet<string> = new Set(['providera', 'providerb']);

/** Reports of a provider about an e-mail become part of its record, in whatever order they arrive. */
export const applyEmailReport = defineListener(
  'apply-email-report',
  [on(webhookEvent, 'received')],
  async ({ event: { payload }, unit }) => {
    const { provider, occurredAt, values } = payload;
    const { outcome, emailId, messageId, address } = values;
    if (!providers.has(provider) || !isReportedOutcome(outcome) || emailId === undefined || !isId(emailId)) return;
    const ofOrganization = await unit.data.findLocked(email, emailId);
    const held = ofOrganization ?? (await unit.data.findLocked(accountEmail, emailId));
    // An e-mail of another installation with the same provider.
    if (!held) return;
    const changes = mergedReport(held, { outcome, at: new Date(occurredAt), messageId });
    if (Object.keys(changes).length > 0)
      await (ofOrganization
        ? unit.data.update(email, held.id, changes)
        : unit.data.update(accountEmail, held.id, changes));
    const reason = suppressionAfter(outcome);
    if (reason === undefined || address === undefined) return;
    const organizationId = ofOrganization?.organizationId ?? null;
    await suppressAddress(unit, { organizationId }, address, { reason, emailId });
  },
);
