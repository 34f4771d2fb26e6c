import { Type } from 'typebox';
import { identityProvider } from '#entities/organizations/identity-provider.ts';
import { organization } from '#entities/organizations/organization.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { parseEmail } from '#entities/kit/base/email-address.ts';
import { maxNamed, organizationsOfDomain } from '#entities/kit/base/proven-domain.ts';
import { singleSignOnUrl } from '../../../credentials/single-sign-on-required.ts';
import { EmailSchema } from '../../../http/request-schemas.ts';
import { defineRoute, type Call } from '../../../http/route.ts';
import { countedAsGuess } from './counted-guess.ts';
import { transactApart, type Provider } from './organization-provider.ts';

/**
 * A POST, so that the address is in no URL and no log of a proxy. The part before the @ is never looked at, so that nobody learns who has an
 * account. The zone is asked first, as for newcomers: any number of organizations can claim a domain, and the work is the same for a domain
 * that some have claimed and for one that none has.
 */
export const discoverSignOn = defineRoute({
  method: 'POST',
  url: '/v1/sso/discover',
  operationId: 'discoverSingleSignOn',
  tag: 'Single sign-on',
  summary: 'Find the single sign-on for an e-mail address',
  description:
    'Lists the organizations with single sign-on to which the domain of the address belongs: those that name the domain (allowed_domains of the provider, or email_domains of the settings) and that a DNS record of the domain names. The answer depends on the domain alone, so it does not say whether the address has an account. It contains only what is public already: the ids, which the DNS records name, and the host of the provider, to which the sign-in leads. It does not contain the names of organizations, because they could disclose internal projects or customers to anyone who knows the domain. After 30 domains without single sign-on, the network address waits for a quarter of an hour.',
  access: 'public',
  limitClass: 'flow',
  body: Type.Object({ email: EmailSchema }, { additionalProperties: false }),
  answers: {
    200: Type.Object(
      {
        sign_ons: Type.Array(
          Type.Object(
            {
              organization_id: Type.String({ description: 'Id of the organization.' }),
              provider: Type.String({ description: 'Host of its provider.' }),
              sign_in_url: Type.String({
                description: 'URL at which the sign-in begins; accepts `redirect_uri` as a further parameter.',
              }),
            },
            { title: 'SignOn' },
          ),
          { description: 'Empty if no organization with single sign-on has proven the domain.' },
        ),
      },
      { title: 'SignOns' },
    ),
  },
  // It counts the attempt in a transaction of its own, and asks name servers.
  runsOnce: true,
  errors: ['invalid_input', 'too_many_requests'],
  handle: async (call) => {
    const domain = parseEmail(call.body.email)?.domain ?? '';
    const found = await countedAsGuess(call, {
      key: 'sso-domain',
      tooMany: 'Too many domains were tried',
      find: () => signOnsOf(call, domain),
      isRight: (providers) => providers.length > 0,
    });
    const signOns = found.map(({ organizationId, issuer }) => ({
      organization_id: organizationId,
      provider: new URL(issuer).host,
      sign_in_url: singleSignOnUrl(call.services, organizationId),
    }));
    return { status: 200, body: { sign_ons: signOns } };
  },
});

/** Providers at which people of a domain can sign in, in the order of the ids of their organizations. */
async function signOnsOf(call: Call<unknown>, domain: string): Promise<Provider[]> {
  const ids = await namedIn(call, domain);
  if (ids.length === 0) return [];
  return transactApart(call, async ({ data }) => {
    const ofNamed = { where: { organizationId: { in: ids } }, limit: maxNamed };
    const providers = await data.find(identityProvider, ofNamed);
    const settings = await data.find(organizationSetting, ofNamed);
    const homes = await data.find(organization, {
      where: { id: { in: ids }, isPersonal: { eq: false } },
      limit: maxNamed,
    });
    const names = (id: string) => settings.find((each) => each.organizationId === id)?.emailDomains ?? [];
    return providers
      .filter(({ organizationId, testedAt }) => testedAt !== null && homes.some(({ id }) => id === organizationId))
      .filter(({ organizationId, allowedDomains }) => [...allowedDomains, ...names(organizationId)].includes(domain))
      .toSorted((one, other) => (one.organizationId < other.organizationId ? -1 : 1));
  });
}

/** Ids of the organizations that the zone of a domain names; none if its name servers give no answer. */
async function namedIn({ services }: Call<unknown>, domain: string): Promise<readonly string[]> {
  const { textRecords, logger } = services;
  try {
    return await organizationsOfDomain(textRecords, domain);
  } catch (error) {
    logger.warn({ err: error, domain }, 'no single sign-on is found for a domain: no name server answers');
    return [];
  }
}
