import { Type, type TSchema } from 'typebox';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { groupingsOf, maxGroupings, numbersOf } from '#entities/kit/read/aggregate.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { defaultPageSize, pageSlice } from '../../http/response/page-slice.ts';
import { inSnakeCase } from './in-snake-case.ts';
import { filterParameters, listFilter } from './list-query.ts';
import { recordNames } from './record-names.ts';

const text = Type.Unsafe({ type: ['string', 'null'] });
const numberSchema = Type.Object(
  { sum: text, min: text, max: text, avg: text },
  {
    title: 'AggregatedNumbers',
    description:
      'Decimal numbers as text; null where no record of the group has a value, and for amounts in several currencies.',
  },
);

/** Aggregates of the records of a list. One statement reads them, and the caller sees what they see in the list. */
export function aggregateRoute(registry: Registry, module: EntityModule): Route {
  const { path, plural, tag, many } = recordNames(module);
  const groupings = new Map(groupingsOf(module).map(({ name }) => [snakeCase(name), name]));
  const numbers = new Map(numbersOf(module).map((name) => [snakeCase(name), name]));
  const common: Record<string, TSchema> = {
    group_by: listParameter(
      [...groupings.keys()],
      maxGroupings,
      'Fields by which the records are grouped, separated by commas; without it, they are one group.',
    ),
    ...(numbers.size > 0
      ? {
          numbers: listParameter(
            [...numbers.keys()],
            numbers.size,
            'Fields whose sum, smallest, largest and average value is returned, separated by commas.',
          ),
        }
      : {}),
    first: Type.Optional(
      Type.Integer({
        description: `Maximum number of groups; those with the most records come first. Without it: ${defaultPageSize}.`,
      }),
    ),
  };
  return defineRoute({
    method: 'GET',
    url: `${path}/aggregates`,
    operationId: `aggregate${many}`,
    tag,
    summary: `Count ${plural}`,
    description: `Counts and adds up the records that the caller can view, in groups, with the filters of the list.`,
    access: 'required',
    query: Type.Object({ ...common, ...filterParameters(registry, module, common) }, { additionalProperties: false }),
    answers: {
      200: Type.Object(
        {
          data: Type.Array(
            Type.Object(
              {
                keys: Type.Record(Type.String(), Type.Unsafe({ type: ['string', 'boolean', 'null'] })),
                count: Type.Integer(),
                numbers: Type.Record(Type.String(), numberSchema),
              },
              { title: 'Aggregate', description: 'A group of records.' },
            ),
          ),
        },
        { title: 'Aggregates', description: 'The groups.' },
      ),
    },
    errors: ['invalid_input', 'limit_exceeded'],
    handle: ({ unit, query, services }) =>
      inSnakeCase(async () => {
        const { size } = pageSlice(
          { first: (query['first'] as number | undefined) ?? null },
          services.config.current.server.maxresultlimit,
        );
        const found = await unit.data.answers.aggregate({
          module,
          ...listFilter(registry, module, query),
          groupBy: namesIn(query['group_by'], groupings),
          numbers: namesIn(query['numbers'], numbers),
          size,
          words: 'stored',
        });
        const data = found.map((group) => ({
          ...group,
          keys: keysInSnakeCase(group.keys),
          numbers: keysInSnakeCase(group.numbers),
        }));
        return { status: 200, body: { data } };
      }),
  });
}

function listParameter(names: readonly string[], most: number, description: string): TSchema {
  const name = `(?:${names.join('|')})`;
  return Type.Optional(
    Type.String({
      maxLength: 500,
      pattern: `^${name}(?:,${name}){0,${most - 1}}$`,
      description: `${description} One or more of ${names.join(', ')}.`,
    }),
  );
}

/** The schema has rejected unknown names. */
function namesIn(given: unknown, names: ReadonlyMap<string, string>): string[] {
  return typeof given === 'string' ? [...new Set(given.split(','))].map((name) => names.get(name) as string) : [];
}

function keysInSnakeCase<T>(values: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [snakeCase(name), value]));
}
