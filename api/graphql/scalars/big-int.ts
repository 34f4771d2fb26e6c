import { GraphQLError, GraphQLScalarType } from 'graphql';

/** Integers beyond the 32 bits of Int, as far as a JSON number is exact. */
export const BigInt = new GraphQLScalarType<number, number>({
  name: 'BigInt',
  description: 'An integer from -(2^53 - 1) to 2^53 - 1, as a JSON number.',
  serialize: exact,
  parseValue: exact,
});

function exact(value: unknown): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw new GraphQLError('a BigInt is an integer from -(2^53 - 1) to 2^53 - 1');
}
