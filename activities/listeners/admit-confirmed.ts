import { user } from '#entities/identity/user.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { admitByDomainContract } from '#workflows/organizations/admit-by-domain.contract.ts';
import { defineListener, on } from './listener.ts';

/** Lets people who have confirmed their address into the organizations to which the domain of the address belongs, if there are any. */
export const admitConfirmed = defineListener(
  'admit-by-domain',
  [on(user, 'confirmed')],
  async ({ event, unit, start }) => {
    const person = await unit.data.findOne(user, { id: { eq: event.entityId } });
    const domain = person?.email.slice(person.email.lastIndexOf('@') + 1);
    const admitting =
      domain &&
      (await unit.data.findOne(organizationSetting, {
        emailDomains: { has: domain },
        admitsEmailDomains: { eq: true },
      }));
    if (admitting) start(admitByDomainContract, { userId: event.entityId });
  },
);
