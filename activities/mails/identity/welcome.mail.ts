import { user } from '#entities/identity/user.ts';
import { on } from '#entities/kit/model/events.ts';
import { invite } from '#entities/organizations/invite.ts';
import { personOfRecord } from '../audience.ts';
import { defineMail, sample } from '../define-mail.ts';
import { organizationName } from '../shown-name.ts';

/** Names the organization of people who came by an invitation. */
export const welcomeMail = defineMail('welcome', {
  follows: [on(user, 'confirmed')],
  audience: personOfRecord,
  priority: 3,
  values: async ({ person, unit, links }) => {
    const where = { recipient: { eq: person?.email ?? '' }, status: { eq: 'accepted' } } as const;
    const accepted = await unit.data.findOne(invite, where);
    return {
      organization: accepted && (await organizationName(accepted, unit, 'the organization that invited you')),
      url: `${links.apiUrl}/v1/login`,
    };
  },
  text: ({ organization, url }) => ({
    subject: 'Welcome',
    paragraphs: [
      organization === undefined
        ? 'Your address is confirmed and your own organization is ready.'
        : `Your address is confirmed, and you have joined ${organization}.`,
      'Sign in and look around.',
    ],
    action: { text: 'Sign in', url },
  }),
  sample: { organization: sample.organization, url: sample.signInUrl },
});
