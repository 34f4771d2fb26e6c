import { Type } from 'typebox';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { defineRoute } from '../../http/route.ts';
import { inSnakeCase } from '../records/in-snake-case.ts';
import { answerOnboarding } from '../../people/answer-onboarding.ts';

const details = (description: string) => Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description }));

export const onboard = defineRoute({
  method: 'POST',
  url: '/v1/onboardings',
  operationId: 'createOnboarding',
  tag: 'Organizations',
  summary: 'Answer the questions at the beginning',
  description:
    'Keeps the answers, and creates the organization that they describe; the caller becomes its owner. If the caller has an organization with the name of the company, the new one gets a longer name.',
  access: 'required',
  body: Type.Object(
    {
      company_name: Type.String({
        maxLength: 150,
        [describedKeyword]: { format: 'name', minLength: 3 },
        description: 'Name of the company.',
      }),
      domains: Type.Optional(
        Type.Array(Type.String({ maxLength: 253 }), { maxItems: 100, description: 'E-mail domains of the company.' }),
      ),
      company_details: details('About the company.'),
      user_details: details('About the person.'),
      compliance: details('Compliance goals of the company.'),
    },
    { additionalProperties: false },
  ),
  answers: {
    201: Type.Object({
      id: Type.String({ description: 'Id of the answers.' }),
      created_organization_id: Type.String({ description: 'Id of the organization.' }),
    }),
  },
  errors: ['invalid_input', 'already_exists', 'permission_denied'],
  handle: ({ unit, body }) =>
    inSnakeCase(async () => {
      const { id, createdOrganizationId } = await answerOnboarding(unit, {
        companyName: body.company_name,
        domains: body.domains ?? null,
        companyDetails: body.company_details ?? null,
        userDetails: body.user_details ?? null,
        compliance: body.compliance ?? null,
      });
      return { status: 201, body: { id, created_organization_id: createdOrganizationId } };
    }, body),
});
