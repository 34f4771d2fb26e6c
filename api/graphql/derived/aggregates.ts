import {
  GraphQLEnumType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  type GraphQLResolveInfo,
} from 'graphql';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { groupingsOf, maxGroupings, numbersOf } from '#entities/kit/read/aggregate.ts';
import type { AggregateJson } from '#entities/kit/unit/answers.ts';
import { DateScalar } from '../scalars/date.ts';
import { Decimal } from '../scalars/decimal.ts';
import { constantCase } from './constant-case.ts';
import type { GraphqlContext } from '../graphql-context.ts';
import type { FieldConfig } from '../passthrough-field.ts';
import type { AggregateArguments, SelectionReader } from '../documents/selection-reader.ts';

interface Parts {
  readonly leafType: (module: EntityModule, field: string) => GraphQLLeafType;
  readonly where: GraphQLInputType;
  readonly readerOf: (context: GraphqlContext, info: GraphQLResolveInfo) => SelectionReader;
}

const number = new GraphQLObjectType({
  name: 'NumberAggregate',
  description:
    'Aggregates of a group of records; null if none of them has a value, and for amounts in several currencies.',
  fields: {
    sum: { type: Decimal, description: 'Their sum.' },
    min: { type: Decimal, description: 'The smallest one.' },
    max: { type: Decimal, description: 'The largest one.' },
    avg: { type: Decimal, description: 'Their average, to six digits after the point.' },
  },
});

/** Aggregates of the records of a list. One statement reads them, and the caller sees what they see in the list. */
export function aggregateField(module: EntityModule, { leafType, where, readerOf }: Parts): FieldConfig {
  const groupings = groupingsOf(module);
  const numbers = numbersOf(module);
  const { typeName } = module;
  const keys = new GraphQLObjectType<AggregateJson['keys'], GraphqlContext>({
    name: `${typeName}AggregateKeys`,
    description: `Values that the ${typeName} records of a group have in common; null for a value by which they are not grouped.`,
    fields: Object.fromEntries(
      groupings.map(({ name, field, by, description }) => [
        name,
        { type: by === 'day' ? DateScalar : leafType(module, field), description },
      ]),
    ),
  });
  const type = new GraphQLObjectType<AggregateJson, GraphqlContext>({
    name: `${typeName}Aggregate`,
    description: `${typeName} records that have the values of the groupings in common.`,
    fields: {
      keys: { type: new GraphQLNonNull(keys), description: 'Values that they have in common.' },
      count: { type: new GraphQLNonNull(GraphQLInt), description: 'Number of records.' },
      ...(numbers.length > 0
        ? {
            numbers: {
              type: new GraphQLNonNull(
                new GraphQLObjectType<AggregateJson['numbers'], GraphqlContext>({
                  name: `${typeName}AggregateNumbers`,
                  description: `Aggregates of ${typeName} records.`,
                  fields: Object.fromEntries(
                    numbers.map((name) => [
                      name,
                      { type: new GraphQLNonNull(number), description: module.fields[name]?.description ?? null },
                    ]),
                  ),
                }),
              ),
              description: 'Aggregates of their fields.',
            },
          }
        : {}),
    },
  });
  const grouping = new GraphQLEnumType({
    name: `${typeName}Grouping`,
    description: `Fields by which ${typeName} records can be grouped.`,
    values: Object.fromEntries(
      groupings.map(({ name, description }) => [constantCase(name), { value: name, description }]),
    ),
  });
  return {
    type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type))),
    description: `Counts and adds up the ${typeName} records that the caller can view, in groups; the largest groups come first. Costs as much as a list of the largest page size.`,
    args: {
      where: { type: where, description: 'Filter.' },
      groupBy: {
        type: new GraphQLList(new GraphQLNonNull(grouping)),
        description: `Fields by which the records are grouped, at most ${maxGroupings}; without it, they are one group.`,
      },
      first: { type: GraphQLInt, description: 'Maximum number of groups.' },
    },
    resolve: async (_source, args: AggregateArguments, context, info) =>
      context.unit.data.answers.aggregate(readerOf(context, info).aggregate(module, args)),
  };
}
