import { GraphQLInputObjectType, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql';
import { onboarding } from '#entities/organizations/onboarding.ts';
import { organization } from '#entities/organizations/organization.ts';
import { answerOnboarding, type OnboardingAnswers } from '../../people/answer-onboarding.ts';
import type { GraphqlContext } from '../graphql-context.ts';
import type { HandWrittenField } from '../hand-written-field.ts';
import { Json } from '../scalars/json.ts';

interface Answered {
  readonly id: string;
  readonly organizationId: string;
}

/** Hand-written, because it creates an organization as well. */
export const createOnboarding: HandWrittenField = {
  on: 'Mutation',
  name: 'createOnboarding',
  build: (types) => ({
    type: new GraphQLNonNull(
      new GraphQLObjectType<Answered, GraphqlContext>({
        name: 'CreateOnboardingPayload',
        fields: {
          onboarding: {
            type: new GraphQLNonNull(types.objectOf(onboarding)),
            resolve: ({ id }, _args, context, info) => types.read(onboarding, id, context, info),
          },
          organization: {
            type: new GraphQLNonNull(types.objectOf(organization)),
            resolve: ({ organizationId }, _args, context, info) =>
              types.read(organization, organizationId, context, info),
          },
        },
      }),
    ),
    description: 'Answers the questions at the beginning, and creates the organization that the answers describe.',
    args: {
      input: {
        type: new GraphQLNonNull(
          new GraphQLInputObjectType({
            name: 'CreateOnboardingInput',
            fields: {
              companyName: { type: new GraphQLNonNull(GraphQLString), description: 'Name of the company.' },
              domains: {
                type: new GraphQLList(new GraphQLNonNull(GraphQLString)),
                description: 'E-mail domains of the company.',
              },
              companyDetails: { type: Json, description: 'About the company.' },
              userDetails: { type: Json, description: 'About the person.' },
              compliance: { type: Json, description: 'Compliance goals of the company.' },
            },
          }),
        ),
      },
    },
    resolve: async (_source, { input }: { input: OnboardingAnswers }, { unit }): Promise<Answered> => {
      const { id, createdOrganizationId } = await answerOnboarding(unit, input);
      return { id, organizationId: createdOrganizationId };
    },
  }),
};
