import {
  getNamedType,
  GraphQLError,
  isAbstractType,
  isObjectType,
  isUnionType,
  type ASTVisitor,
  type GraphQLCompositeType,
  type GraphQLSchema,
  type ValidationContext,
} from 'graphql';
import { didYouMean } from '#entities/kit/base/did-you-mean.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';

/** Names of a type that are listed in an error. */
const maxListed = 40;

/** Names that are suggested because they have the words of the wrong one. */
const maxSuggested = 5;

/** Names of other products for fields. */
const elsewhere: Readonly<Record<string, string>> = {
  me: 'self',
  viewer: 'self',
  currentUser: 'self',
  whoami: 'self',
};

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
  const special = rootHint(schema, type, name) ?? pageHint(type, name);
  if (special !== undefined) return special;
  const names = isUnionType(type) ? ['__typename'] : Object.keys(type.getFields());
  const meant = elsewhere[name];
  const near = meant !== undefined && names.includes(meant) ? meant : didYouMean(name, names);
  if (near !== undefined) return `Did you mean "${near}"?`;
  if (names.length <= maxListed) return `Its fields are ${names.join(', ')}.`;
  const alike = withWordsOf(name, names);
  return alike.length > 0
    ? `Did you mean ${alike.join(', ')}?`
    : 'GraphiQL, at /graphql in a browser, lists its fields.';
}

/** For fields of queries in mutations, and the other way round. */
function rootHint(schema: GraphQLSchema, type: GraphQLCompositeType, name: string): string | undefined {
  const roots = { query: schema.getQueryType(), mutation: schema.getMutationType() };
  if (type !== roots.query && type !== roots.mutation) return undefined;
  for (const [operation, root] of Object.entries(roots))
    if (root && root !== type && Object.hasOwn(root.getFields(), name))
      return `It is a field of ${root.name}: write ${operation} { ${name} … }.`;
  return undefined;
}

/** For the fields of records that are asked of a page of them. */
function pageHint(type: GraphQLCompositeType, name: string): string | undefined {
  const edge = isObjectType(type) && type.name.endsWith('Connection') && getNamedType(type.getFields()['edges']?.type);
  const node = isObjectType(edge) && getNamedType(edge.getFields()['node']?.type);
  if (!isObjectType(node)) return undefined;
  if (Object.hasOwn(node.getFields(), name)) return `Write edges { node { ${name} } }.`;
  return name === 'nodes' || name === 'items' ? 'Its records are in edges { node { … } }.' : undefined;
}

/** Names that have all words of another one, the shortest first. */
function withWordsOf(name: string, names: readonly string[]): string[] {
  const wordsOf = (text: string) => snakeCase(text).split('_');
  const wanted = wordsOf(name);
  return names
    .filter((one) => wanted.every((word) => wordsOf(one).includes(word)))
    .toSorted((a, b) => a.length - b.length)
    .slice(0, maxSuggested);
}
