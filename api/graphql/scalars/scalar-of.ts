import { GraphQLBoolean, GraphQLID, GraphQLInt, GraphQLString, type GraphQLScalarType } from 'graphql';
import type { Field, FieldType } from '#entities/kit/model/declared-field.ts';
import { BigInt } from './big-int.ts';
import { DateScalar } from './date.ts';
import { DateTime } from './date-time.ts';
import { Decimal } from './decimal.ts';
import { Json } from './json.ts';

const scalars = {
  boolean: GraphQLBoolean,
  date: DateScalar,
  decimal: Decimal,
  // In a history: the id of the file that the record had.
  file: GraphQLID,
  integer: GraphQLInt,
  json: Json,
  reference: GraphQLID,
  text: GraphQLString,
  textList: GraphQLString,
  timestamp: DateTime,
} as const satisfies Record<Exclude<FieldType, 'choice'>, GraphQLScalarType>;

/** The type of one value of a field that is no choice. */
export function scalarOf({ type, columnType }: Field): GraphQLScalarType {
  if (type === 'choice') throw new TypeError('the type of a choice is made for each kind');
  return columnType === 'bigint' ? BigInt : scalars[type];
}
