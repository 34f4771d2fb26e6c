import { Type } from 'typebox';
import { existingId } from '#entities/kit/model/missing-record.ts';
import { steerings, transferKinds } from '../../transfers/steer-transfer.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { recordNames } from '../records/record-names.ts';
import { selectionOf } from '../records/record-selection.ts';
import { recordSchema } from '../records/record-schema.ts';
import { idSchema } from '../../http/request-schemas.ts';

/** Cancels exports and imports, and starts them again. Everything else about them is derived. */
export const transferRoutes: readonly Route[] = transferKinds.flatMap((kind) => {
  const { path, singular, tag, one } = recordNames(kind);
  return steerings.map(({ verb, description, run }) =>
    defineRoute({
      method: 'POST',
      url: `${path}/:id/${verb}`,
      operationId: `${verb}${one}`,
      tag,
      summary: `${verb === 'cancel' ? 'Cancel' : 'Restart'} one ${singular}`,
      description: description(singular),
      access: 'required',
      acceptsTokens: true,
      acceptsSingleSignOn: true,
      params: Type.Object({ id: idSchema('Id of the record.') }),
      answers: { 200: recordSchema(kind) },
      errors: ['not_found', 'permission_denied', 'rule_violated', 'limit_exceeded'],
      handle: async ({ unit, params }) => {
        const id = existingId(kind, params['id'] ?? '');
        await run(unit, kind, id);
        return { status: 200, body: await unit.data.answers.record(selectionOf(kind), id) };
      },
    }),
  );
});
