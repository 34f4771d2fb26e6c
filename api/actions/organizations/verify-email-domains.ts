import { Type } from 'typebox';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { isManager } from '#entities/presets/roles.ts';
import { DomainRecordSchema, verifiedDomains } from '../../people/domain-proof.ts';
import { defineAction } from '../kit/define-action.ts';

const ofRecord = DomainRecordSchema.properties;

export const verifyEmailDomains = defineAction({
  name: 'verifyEmailDomains',
  url: '/v1/email-domains/verify',
  tag: 'Organizations',
  summary: 'Look for the DNS records of the e-mail domains',
  description:
    'Asks the name servers of the e-mail domains of the current organization (organization settings, `emailDomains`) for the records that prove them. A domain is valid while its record is published; the record is checked again whenever somebody confirms an address. The same record lets single sign-on admit people of the domain.',
  limits: [{ per: 'organization', uses: 30, windowMs: 15 * 60_000, exceeded: 'The domains were verified too often' }],
  answer: {
    domains: Type.Array(
      Type.Object(
        {
          domain: ofRecord.domain,
          recordName: ofRecord.record_name,
          recordValue: ofRecord.record_value,
          isProven: Type.Boolean({ description: 'Whether the record is found.' }),
        },
        {
          title: 'VerifiedEmailDomain',
          description: 'E-mail domain of an organization and the record that proves it.',
        },
      ),
      { description: 'E-mail domains of the organization.' },
    ),
  },
  title: 'VerifiedEmailDomains',
  errors: ['permission_denied'],
  outside: {
    prepare: async ({ unit }) => {
      const { kind, organizationId, role } = unit.context.caller;
      if (kind !== 'user' || organizationId === null || !isManager(role))
        throw new AppError('permission_denied', 'Only managers of the current organization verify its e-mail domains.');
      const held = await unit.data.findOne(organizationSetting, { organizationId: { eq: organizationId } });
      return { organizationId, emailDomains: held?.emailDomains ?? [] };
    },
    call: (services, { organizationId, emailDomains }) => verifiedDomains(services, organizationId, emailDomains),
  },
  run: (_asking, _input, { domains }) =>
    Promise.resolve({
      domains: domains.map(({ domain, record_name: recordName, record_value: recordValue, is_proven: isProven }) => ({
        domain,
        recordName,
        recordValue,
        isProven,
      })),
    }),
});
