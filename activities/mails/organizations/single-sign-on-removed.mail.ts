import { on } from '#entities/kit/model/events.ts';
import { identityProvider } from '#entities/organizations/identity-provider.ts';
import { peopleInCharge } from '../audience.ts';
import { defineMail, sample } from '../define-mail.ts';
import { organizationName } from '../shown-name.ts';

/** Reports that the settings of single sign-on were deleted. They are gone, so it is about their organization. */
export const singleSignOnRemovedMail = defineMail('single-sign-on-removed', {
  follows: [on(identityProvider, 'deleted')],
  audience: (occasion) => peopleInCharge(occasion, occasion.event.organizationId ?? undefined),
  values: async ({ input: { about }, unit }) => {
    const name = about && (await organizationName({ organizationId: about.id }, unit));
    return name === undefined ? undefined : { name };
  },
  text: ({ name }) => ({
    subject: 'Single sign-on was removed',
    paragraphs: [
      `The single sign-on of ${name} was removed. Members no longer need it, and the sessions that it started have ended.`,
      'If you did not expect this, check the managers of the organization.',
    ],
  }),
  sample: { name: sample.organization },
});
