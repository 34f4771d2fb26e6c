import { on } from '#entities/kit/model/events.ts';
import { identityProvider } from '#entities/organizations/identity-provider.ts';
import { peopleInCharge } from '../audience.ts';
import { defineMail, sample } from '../define-mail.ts';
import { organizationName } from '../shown-name.ts';

/** Fields that decide which provider decides about the members. */
const providerFields: ReadonlySet<string> = new Set(['issuer', 'clientId', 'allowedDomains']);

/** Reports which provider decides who the members are, after it was set or replaced. */
export const singleSignOnProviderMail = defineMail('single-sign-on-provider', {
  follows: [on(identityProvider, 'created'), on(identityProvider, 'updated')],
  condition: ({ event }) => event.payload.changed.some((field) => providerFields.has(field)),
  audience: peopleInCharge,
  about: identityProvider,
  values: async ({ record, unit }) => {
    const name = await organizationName(record, unit);
    return name === undefined ? undefined : { issuer: record.issuer, domains: record.allowedDomains, name };
  },
  text: ({ issuer, domains, name }) => ({
    subject: 'The provider of single sign-on was changed',
    paragraphs: [
      `The single sign-on of ${name} now uses the provider ${issuer}. Its operator can sign in there as any member who has linked an identity of this provider.`,
      domains.length === 0
        ? 'No domain is allowed: the provider makes nobody a member.'
        : `People with addresses of these domains become members at their first sign-in with it, if a DNS record proves the domain: ${domains.join(', ')}.`,
      'If you did not expect this, check the settings and the managers of the organization.',
    ],
  }),
  sample: { issuer: 'https://login.example.com', domains: ['example.com'], name: sample.organization },
});
