import { Type } from 'typebox';
import { csvTemplate, templateRows, type TemplateRows } from '#entities/kit/csv/csv-template.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { contentDisposition } from '../../http/streams/content-disposition.ts';
import { recordNames } from './record-names.ts';
import { notModified } from './record-version.ts';

/** Actions of imports that the kind offers. */
function actionsOf({ mutate = [] }: EntityModule): ('create' | 'update')[] {
  return (['create', 'update'] as const).filter((action) => mutate.includes(action));
}

/** The route that answers with a CSV document to fill in; none for a kind of which no records can be imported. */
export function importTemplateRoutes(registry: Registry, module: EntityModule): Route[] {
  const actions = actionsOf(module);
  const [first] = actions;
  if (first === undefined) return [];
  const { path, plural, tag, one } = recordNames(module);
  return [
    defineRoute({
      method: 'GET',
      url: `${path}/import-template`,
      operationId: `get${one}ImportTemplate`,
      tag,
      summary: `Download a CSV template for ${plural}`,
      description: `A CSV document with a column for each field of ${plural} that an import sets. Records in references are named by look-up columns, such as e-mail addresses and display ids, where there are any.`,
      access: 'required',
      query: Type.Object(
        {
          rows: Type.Optional(
            Type.Unsafe({
              type: 'string',
              enum: [...templateRows],
              description:
                'Content after the header: nothing (none, the default), a row as an example (example), or a row that says what the cells of each column can be (values).',
            }),
          ),
          action: Type.Optional(
            Type.Unsafe({
              type: 'string',
              enum: actions,
              description: `Whether the import creates records or changes them; default: ${first}.`,
            }),
          ),
        },
        { additionalProperties: false },
      ),
      sends: ['ETag'],
      answers: { 200: Type.String(), 304: notModified },
      produces: 'text/csv; charset=utf-8',
      errors: ['invalid_input'],
      handle: ({ query, reply }) => {
        const { rows = 'none', action = first } = query as { rows?: TemplateRows; action?: 'create' | 'update' };
        void reply.header('content-disposition', contentDisposition('attachment', `${module.table}.csv`));
        return { status: 200, document: Buffer.from(csvTemplate({ registry, module, action }, rows)) };
      },
    }),
  ];
}
