import { GraphQLError, GraphQLScalarType } from 'graphql';

/** Whole numbers beyond the 32 bits of Int, up to where a JSON number is exact. */
export const BigInt = new GraphQLScalarType<number, number>({
  name: 'BigInt',
  description: 'A whole number as a JSON number, from -(2^53 - 1) to 2^53 - 1.',
  serialize: exact,
  parseValue: exact,
});

function exact(value: unknown): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw new GraphQLError('a BigInt is a whole number from -(2^53 - 1) to 2^53 - 1');
}
