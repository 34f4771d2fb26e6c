import { idPattern } from '../kit/base/ids.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { domainList } from '../kit/model/composed/domain-list.ts';
import { json, singleLine, text } from '../kit/model/fields.ts';
import { allow, anyone, deny, self, system } from '../kit/model/policy.ts';
import { internalRecord } from '../presets/internal-record.ts';

export const onboarding = defineEntityModule({
  kind: 'onboarding',
  table: 'onboardings',
  description:
    'Answers of a person to the questions at the beginning. Giving them creates an organization, of which the person is the owner.',
  fields: {
    companyName: singleLine('Name of the company, and of the organization unless the person has one of that name.', {
      min: 3,
      max: 150,
      exposed: 'read',
    }),
    domains: domainList('E-mail domains of the company; they become those of the settings of the organization.', {
      exposed: 'read',
    }),
    companyDetails: json('About the company, for example its size and sector.', {
      maxBytes: 16_384,
      optional: true,
      exposed: 'read',
    }),
    userDetails: json('About the person, for example their position.', {
      maxBytes: 16_384,
      optional: true,
      exposed: 'read',
    }),
    compliance: json('Compliance goals of the company, and their status.', {
      maxBytes: 16_384,
      optional: true,
      exposed: 'read',
    }),
    createdOrganizationId: text('Id of the organization that was created.', {
      max: 26,
      pattern: idPattern,
      exposed: 'read',
      lists: ['filter'],
    }),
  },
  tenancy: 'user',
  policy: { ...internalRecord(), view: [allow(system), allow(self('userId')), deny(anyone)] },
  events: ['created'],
});
