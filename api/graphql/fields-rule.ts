import {
  GraphQLError,
  isAbstractType,
  isUnionType,
  type ASTVisitor,
  type GraphQLCompositeType,
  type GraphQLSchema,
  type ValidationContext,
} from 'graphql';
import { didYouMean } from '#entities/kit/base/did-you-mean.ts';
import { shortened } from '#entities/kit/base/shortened.ts';

/** Names of a type that are listed in an error. */
const maxListed = 40;

/** Replaces the rule of GraphQL about selected fields by one that says which fields there are, unless the schema is not described. */
export function fieldsRule(context: ValidationContext): ASTVisitor {
  return {
    Field: (node) => {
      const type = context.getParentType();
      if (!type || context.getFieldDef()) return;
      const name = shortened(node.name.value);
      const hint = context.hideSuggestions ? '' : ` ${fieldHint(context.getSchema(), type, node.name.value)}`;
      context.reportError(
        new GraphQLError(`Cannot query field "${name}" on type "${type.name}".${hint}`, { nodes: node }),
      );
    },
  };
}

function fieldHint(schema: GraphQLSchema, type: GraphQLCompositeType, name: string): string {
  const owner =
    isAbstractType(type) && schema.getPossibleTypes(type).find((one) => Object.hasOwn(one.getFields(), name));
  if (owner) return `Ask for it in a fragment, such as ... on ${owner.name} { ${name} }.`;
  const names = isUnionType(type) ? ['__typename'] : Object.keys(type.getFields());
  const near = didYouMean(name, names);
  if (near !== undefined) return `Did you mean "${near}"?`;
  return names.length <= maxListed
    ? `Its fields are ${names.join(', ')}.`
    : 'The schema, in api/graphql/schema, has its fields.';
}
