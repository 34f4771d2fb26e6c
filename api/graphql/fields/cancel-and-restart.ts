import { existingId } from '#entities/kit/model/missing-record.ts';
import { steerings, transferKinds } from '../../transfers/steer-transfer.ts';
import type { HandWrittenField } from '../hand-written-field.ts';
import { recordAct } from '../derived/record-act.ts';

/** Hand-written, because which changes are possible depends on how far the work is. */
export const transferFields: readonly HandWrittenField[] = transferKinds.flatMap((kind) =>
  steerings.map(({ verb, description, run }) =>
    recordAct({
      module: kind,
      name: `${verb}${kind.typeName}`,
      acceptsTokens: true,
      description: description(kind.kind),
      about: 'Id of the record.',
      act: async ({ unit }, wanted) => {
        const id = existingId(kind, wanted);
        await run(unit, kind, id);
        return { id };
      },
    }),
  ),
);
