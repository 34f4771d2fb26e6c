import { Type } from 'typebox';
import { user } from '#entities/identity/user.ts';
import { onboarding } from '#entities/organizations/onboarding.ts';
import { organization } from '#entities/organizations/organization.ts';
import { parseDomain } from '#entities/kit/base/email-address.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { nameForm } from '#entities/kit/base/name-form.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { foundOrganization, trialOf } from '../../people/found-organization.ts';
import { idOf, selectableRecord } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const details = (description: string) => Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description }));

/** Names that are tried before the person has to choose another one. */
const maxNames = 10;

export const createOnboarding = defineAction({
  name: 'createOnboarding',
  url: '/v1/onboardings',
  tag: 'Organizations',
  summary: 'Answer the questions at the beginning',
  description:
    'Keeps the answers, and creates the organization that they describe; the caller becomes its owner. If the caller has an organization with the name of the company, the new one gets a longer name.',
  input: {
    companyName: Type.String({
      maxLength: 150,
      [describedKeyword]: { format: 'name', minLength: 3 },
      description: 'Name of the company.',
    }),
    domains: Type.Optional(
      Type.Array(Type.String({ maxLength: 253, [describedKeyword]: { format: 'idn-hostname' } }), {
        maxItems: 100,
        description: 'E-mail domains of the company.',
      }),
    ),
    companyDetails: details('About the company.'),
    userDetails: details('About the person.'),
    compliance: details('Compliance goals of the company.'),
  },
  answer: {
    id: idOf('Id of the answers.'),
    createdOrganizationId: idOf('Id of the organization.'),
    onboarding: selectableRecord(onboarding),
    organization: selectableRecord(organization),
  },
  status: 201,
  errors: ['invalid_input', 'already_exists', 'permission_denied'],
  run: async ({ unit, services }, { domains = [], ...answers }) => {
    const { kind, subjectId } = unit.context.caller;
    if (kind !== 'user' || subjectId === null)
      throw new AppError('permission_denied', 'Only users answer the questions at the beginning; sign in first.');
    const data = unit.data.privileged('answer onboarding');
    const owner = await data.get(user, subjectId);
    const emailDomains = [...new Set(domains.map((domain) => parseDomain(domain) ?? domain))];
    const organizationId = newId();
    const { id, companyName } = await data.create(onboarding, {
      ...answers,
      domains: emailDomains,
      userId: subjectId,
      createdOrganizationId: organizationId,
    });
    const name = await freeName(data, subjectId, companyName);
    const wanted = { id: organizationId, name, founderId: subjectId };
    await foundOrganization(data, wanted, owner, { settings: { emailDomains }, trial: trialOf(services) });
    return { id, createdOrganizationId: organizationId, onboarding: id, organization: organizationId };
  },
});

/** @throws AppError already_exists */
async function freeName(data: DataClient, founderId: string, wanted: string): Promise<string> {
  const suffixes = Array.from({ length: maxNames - 1 }, () => ` ${newId().slice(-6)}`);
  for (const suffix of ['', ...suffixes]) {
    const name = `${wanted}${suffix}`;
    if (!(await data.findOne(organization, { founderId: { eq: founderId }, nameForm: { eq: nameForm(name) } })))
      return name;
  }
  throw new AppError('already_exists', 'You already created an organization with this name; choose another one.');
}
