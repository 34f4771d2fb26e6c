import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLID,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import { user } from '#entities/identity/user.ts';
import { isManager } from '#entities/presets/roles.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { callerIn, readMembershipState } from '#entities/kit/access/principal-state.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { isExposed } from '#entities/kit/model/exposure.ts';
import { existingId } from '#entities/kit/model/missing-record.ts';
import { explain, type ExplainedRule, type Explanation } from '#entities/kit/unit/explanation.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { HandWrittenField } from '../hand-written-field.ts';

interface Arguments {
  readonly kind: string;
  readonly id: string;
  readonly operation: 'view' | 'edit' | 'remove';
  readonly userId: string;
}

function recordKindType(registry: Registry): GraphQLEnumType {
  const kinds = registry.modules.filter(isExposed);
  return new GraphQLEnumType({
    name: 'RecordKind',
    description: 'Kinds of records.',
    values: Object.fromEntries(kinds.map(({ kind, topic }) => [topic.toUpperCase(), { value: kind }])),
  });
}

const decidedBy = new GraphQLEnumType({
  name: 'AccessDecidedBy',
  description: 'Part of the server in which a decision about access was made.',
  values: {
    RULES: { value: 'rules', description: 'The rules, by the role or scope of the caller or by fields of the record.' },
    ROWS: { value: 'rows', description: 'The database rows that grant rights on the record.' },
    CACHE: { value: 'cache', description: 'An earlier answer of the authorization store that is still valid.' },
    STORE: { value: 'store', description: 'The authorization store, which was queried.' },
  },
});

function explanationType(recordKind: GraphQLEnumType): GraphQLObjectType<Explanation> {
  const explanation: GraphQLObjectType<Explanation> = new GraphQLObjectType<Explanation>({
    name: 'AccessExplanation',
    description: 'Why a person may or may not perform an operation on a record.',
    fields: () => ({
      kind: { type: new GraphQLNonNull(recordKind), description: 'Kind of the record.' },
      id: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the record.' },
      isAllowed: { type: new GraphQLNonNull(GraphQLBoolean), description: 'Whether the operation is allowed.' },
      decidedBy: { type: new GraphQLNonNull(decidedBy), description: 'Part of the server that made the decision.' },
      reason: {
        type: GraphQLString,
        description: 'Why the operation is refused; null when it is allowed.',
      },
      rules: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(explainedRule))),
        description:
          'The rules in the order in which they were evaluated, up to the one that decided. When no rule decided, the default comes last.',
      },
    }),
  });
  const explainedRule = new GraphQLObjectType<ExplainedRule>({
    name: 'ExplainedRule',
    description: 'One rule of the access policy of a kind.',
    fields: {
      rule: { type: new GraphQLNonNull(GraphQLString), description: 'The rule, as text.' },
      doesApply: { type: new GraphQLNonNull(GraphQLBoolean), description: 'Whether the rule applies.' },
      relations: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLString))),
        description: 'Relations between the person and the record that make the rule apply.',
      },
      above: {
        type: explanation,
        description:
          'The parent record from which the right is inherited; null when there is none or the caller cannot view it.',
      },
    },
  });
  return explanation;
}

const operation = new GraphQLEnumType({
  name: 'AccessOperation',
  description: 'Operations on a record for which access is decided.',
  values: { VIEW: { value: 'view' }, EDIT: { value: 'edit' }, REMOVE: { value: 'remove' } },
});

/** Hand-written, because it returns a decision and not a record. */
export const explainAccess: HandWrittenField = {
  on: 'Query',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  name: 'explainAccess',
  build: ({ registry }) => {
    const recordKind = recordKindType(registry);
    return {
      type: new GraphQLNonNull(explanationType(recordKind)),
      description:
        'Explains why a person may or may not perform an operation on a record that the caller can view. Only for owners and administrators of the organization.',
      args: {
        kind: { type: new GraphQLNonNull(recordKind), description: 'Kind of the record.' },
        id: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the record.' },
        operation: { type: new GraphQLNonNull(operation), description: 'Operation to explain.' },
        userId: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the person whose access is explained.' },
      },
      resolve: (_source, args, { unit }) => explainAccessTo(unit, registry, args as Arguments),
    };
  },
};

const noSecondFactor =
  'The organization requires a second factor, and the person has not set one up. Until then they have no role in it.';

async function explainAccessTo(
  unit: UnitOfWork,
  registry: Registry,
  { kind, id, operation, userId }: Arguments,
): Promise<Explanation> {
  const { organizationId, role, productModules, outOfContext, contextConditions } = unit.context.caller;
  if (organizationId === null || !isManager(role))
    throw new AppError('permission_denied', 'Only owners and administrators can ask why others have access.');
  const module = registry.byKind(kind);
  // The caller must be able to view both the record and the person.
  await unit.data.get(module, existingId(module, id));
  await unit.data.get(user, existingId(user, userId));
  const state = await readMembershipState(unit, userId, organizationId);
  // The caller's own settings and product modules apply: both belong to the same organization.
  const caller = callerIn(userId, organizationId, state, { productModules, outOfContext, contextConditions });
  const explained = await explain(unit, caller, module, id, operation);
  // Their role applies again as soon as they have one.
  return state.lacksSecondFactor && !explained.isAllowed ? { ...explained, reason: noSecondFactor } : explained;
}
