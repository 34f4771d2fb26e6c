import { emailChange } from '#entities/identity/email-change.ts';
import { user } from '#entities/identity/user.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { parseEmail } from '#entities/kit/base/email-address.ts';
import { admitByDomainContract } from '#workflows/organizations/admit-by-domain.contract.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineListener } from '../listener.ts';

/**
 * Lets people who have confirmed an address, that of a new account or another one, into the organizations to which its domain belongs, if
 * there are any.
 */
export const admitConfirmed = defineListener(
  'admit-by-domain',
  [on(user, 'confirmed'), on(emailChange, 'confirmed')],
  async ({ event, unit: { data }, start }) => {
    const at = { id: { eq: event.entityId } };
    const change = event.topic === 'email_change.confirmed' ? await data.findOne(emailChange, at) : undefined;
    const userId = change?.userId ?? event.entityId;
    const person = await data.findOne(user, { id: { eq: userId } });
    const domain = parseEmail(person?.email ?? '')?.domain;
    const admitting =
      domain &&
      (await data.findOne(organizationSetting, { emailDomains: { has: domain }, admitsEmailDomains: { eq: true } }));
    if (admitting) start(admitByDomainContract, { userId, ...(change ? { emailChangeId: change.id } : {}) });
  },
);
