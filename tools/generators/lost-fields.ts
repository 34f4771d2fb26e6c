import {
  buildSchema,
  findBreakingChanges,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import type { GraphQLSchema } from 'graphql';

/**
 * Parts of a schema on which clients of GraphQL relied and that a later schema does not have: fields, arguments, types and values that are
 * missing or of another type. Deprecated parts may be missing.
 * @param before the text of the earlier schema
 */
export function lostFields(before: string, now: GraphQLSchema): string[] {
  const held = buildSchema(before);
  const announced = deprecatedIn(held);
  return (
    findBreakingChanges(held, now)
      .map(({ description }) => description)
      // Scalars of the language itself come and go with their uses.
      .filter((description) => !description.startsWith('Standard scalar '))
      .filter((description) => ![...announced].some((name) => isRemovalOf(description, name)))
  );
}

/** `Task.oldName`, for every field and value that is deprecated. */
function deprecatedIn(schema: GraphQLSchema): ReadonlySet<string> {
  const names = Object.values(schema.getTypeMap()).flatMap((type) => {
    const parts =
      isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
        ? Object.values(type.getFields())
        : isEnumType(type)
          ? type.getValues()
          : [];
    return parts.filter(({ deprecationReason }) => deprecationReason != null).map(({ name }) => `${type.name}.${name}`);
  });
  return new Set(names);
}

function isRemovalOf(description: string, name: string): boolean {
  return (
    description.includes('was removed') && (description.startsWith(`${name} `) || description.includes(` ${name} `))
  );
}
