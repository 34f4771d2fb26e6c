import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLID,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import { registry, user } from '#entities/index.ts';
import { callerIn, readMembershipState } from '#entities/kit/access/principal-state.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { isExposed } from '#entities/kit/model/exposure.ts';
import { existingId } from '#entities/kit/model/missing-record.ts';
import { explain, type ExplainedRule, type Explanation } from '#entities/kit/unit/explanation.ts';
import type { HandWrittenField } from '../hand-written-field.ts';

interface Arguments {
  readonly kind: string;
  readonly id: string;
  readonly operation: 'view' | 'edit' | 'remove';
  readonly userId: string;
}

const administrators = new Set<string | null>(['owner', 'super_admin', 'admin']);

const recordKind = new GraphQLEnumType({
  name: 'RecordKind',
  values: Object.fromEntries(
    registry.modules.filter(isExposed).map(({ kind, topic }) => [topic.toUpperCase(), { value: kind }]),
  ),
});

const explanation: GraphQLObjectType<Explanation> = new GraphQLObjectType<Explanation>({
  name: 'AccessExplanation',
  description: 'Why somebody may, or may not, do something with a record.',
  fields: () => ({
    kind: { type: new GraphQLNonNull(recordKind) },
    id: { type: new GraphQLNonNull(GraphQLID) },
    isAllowed: { type: new GraphQLNonNull(GraphQLBoolean) },
    decidedBy: {
      type: new GraphQLNonNull(
        new GraphQLEnumType({
          name: 'AccessDecidedBy',
          values: {
            RULES: { value: 'rules', description: 'Role, scope or the record itself decide.' },
            ROWS: { value: 'rows', description: 'The records decide in the statement that reads.' },
            CACHE: {
              value: 'cache',
              description: 'The authorization store said so before, and nothing changed since.',
            },
            STORE: { value: 'store', description: 'The authorization store was asked.' },
          },
        }),
      ),
    },
    rules: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(explainedRule))),
      description: 'In their order, up to the one that decided; when none did, what holds after them stands last.',
    },
  }),
});

const explainedRule: GraphQLObjectType<ExplainedRule> = new GraphQLObjectType<ExplainedRule>({
  name: 'ExplainedRule',
  fields: () => ({
    rule: { type: new GraphQLNonNull(GraphQLString) },
    doesApply: { type: new GraphQLNonNull(GraphQLBoolean) },
    relations: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLString))),
      description: 'Relations to the record by which it applies.',
    },
    above: { type: explanation, description: 'The record above, when the right comes from there and you see it.' },
  }),
});

/** Hand-written, because it is about a decision and not about a record. */
export const explainAccess: HandWrittenField = {
  on: 'Query',
  name: 'explainAccess',
  build: () => ({
    type: new GraphQLNonNull(explanation),
    description:
      'Why a person may, or may not, do something with a record that you see. For owners and administrators of the organization.',
    args: {
      kind: { type: new GraphQLNonNull(recordKind) },
      id: { type: new GraphQLNonNull(GraphQLID) },
      operation: {
        type: new GraphQLNonNull(
          new GraphQLEnumType({
            name: 'AccessOperation',
            values: { VIEW: { value: 'view' }, EDIT: { value: 'edit' }, REMOVE: { value: 'remove' } },
          }),
        ),
      },
      userId: { type: new GraphQLNonNull(GraphQLID), description: 'Whose rights are asked about.' },
    },
    resolve: async (_source, args, { unit }) => {
      const { kind, id, operation, userId } = args as Arguments;
      const { organizationId, role, productModules, outOfContext, contextConditions } = unit.context.caller;
      if (organizationId === null || !administrators.has(role))
        throw new AppError('permission_denied', 'Only owners and administrators ask why others have a right.');
      const module = registry.byKind(kind);
      // Who asks must see the record, and the person.
      await unit.data.get(module, existingId(module, id));
      await unit.data.get(user, existingId(user, userId));
      const standing = await readMembershipState(unit, userId, organizationId);
      // What the settings say of callers, and what the organization has, is the same for who asks.
      const caller = callerIn(userId, organizationId, standing, { productModules, outOfContext, contextConditions });
      return explain(unit, caller, module, id, operation);
    },
  }),
};
