import { GraphQLError, GraphQLScalarType } from 'graphql';

/** Decimal numbers as text: a JSON number would be rounded by most readers. */
export const Decimal = new GraphQLScalarType<string, string>({
  name: 'Decimal',
  description: 'An exact decimal number as text, for example "12.50".',
  serialize: decimal,
  parseValue: decimal,
});

/** How many digits a number may have depends on its field, and the data layer checks it. */
function decimal(value: unknown): string {
  if (typeof value === 'string' && /^-?\d{1,100}(\.\d{1,100})?$/.test(value)) return value;
  throw new GraphQLError(`Decimal cannot represent ${JSON.stringify(value)}: write a text such as "12.50".`);
}
