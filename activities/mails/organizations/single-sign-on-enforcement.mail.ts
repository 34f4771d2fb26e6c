import { on } from '#entities/kit/model/events.ts';
import { identityProvider } from '#entities/organizations/identity-provider.ts';
import { peopleInCharge } from '../audience.ts';
import { defineMail, sample } from '../define-mail.ts';
import { organizationName } from '../shown-name.ts';

/** Reports whether single sign-on is enforced now. */
export const singleSignOnEnforcementMail = defineMail('single-sign-on-enforcement', {
  follows: [on(identityProvider, 'updated')],
  condition: ({ event }) => event.payload.changed.includes('isEnforced'),
  audience: peopleInCharge,
  about: identityProvider,
  values: async ({ record, unit }) => {
    const name = await organizationName(record, unit);
    return name === undefined ? undefined : { isEnforced: record.isEnforced, name };
  },
  text: ({ isEnforced, name }) => ({
    subject: isEnforced ? 'Single sign-on is enforced' : 'Single sign-on is no longer enforced',
    paragraphs: [
      isEnforced
        ? `Members of ${name} now have to use its single sign-on. Owners can still sign in in other ways.`
        : `Members of ${name} no longer have to use its single sign-on.`,
      'If you did not expect this, check the settings and the managers of the organization.',
    ],
  }),
  sample: { isEnforced: true, name: sample.organization },
});
