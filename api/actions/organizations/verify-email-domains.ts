import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { isManager } from '#entities/presets/roles.ts';
import { tooManyAttempts } from '../../http/limits/too-many-attempts.ts';
import { workOf } from '../../http/request-context.ts';
import { verifiedDomains, VerifiedDomainsSchema } from '../../people/domain-proof.ts';
import { defineAction } from '../kit/define-action.ts';

/** Questions of the managers of an organization to name servers within the window, in milliseconds. */
const questions = { limit: 30, windowMs: 15 * 60_000 };

export const verifyEmailDomains = defineAction({
  name: 'verifyEmailDomains',
  url: '/v1/email-domains/verify',
  tag: 'Organizations',
  summary: 'Look for the DNS records of the e-mail domains',
  description:
    'Asks the name servers of the e-mail domains of the current organization (organization settings, `emailDomains`) for the records that prove them. A domain is valid while its record is published; the record is checked again whenever somebody confirms an address. The same record lets single sign-on admit people of the domain.',
  answer: VerifiedDomainsSchema.properties,
  title: 'VerifiedDomains',
  errors: ['permission_denied', 'too_many_requests'],
  onlyRest: 'It waits for name servers outside of its transaction, and an operation of GraphQL is one transaction.',
  runsOnce: true,
  run: async ({ services, request, unit }) => {
    const { kind, organizationId, role } = unit.context.caller;
    if (kind !== 'user' || organizationId === null || !isManager(role))
      throw new AppError('permission_denied', 'Only managers of the current organization verify its e-mail domains.');
    // A transaction that ends before name servers are asked.
    const emailDomains = await services.database.transact(workOf(request.core), async (reading) => {
      const key = { key: `email-domains:${organizationId}`, limit: questions.limit };
      const freeAt = await takeAttempt(reading, [key], questions.windowMs);
      if (freeAt) throw tooManyAttempts('The domains were verified too often', freeAt, services.clock.now());
      const held = await reading.data.findOne(organizationSetting, { organizationId: { eq: organizationId } });
      return held?.emailDomains ?? [];
    });
    return verifiedDomains(services, organizationId, emailDomains);
  },
});
