import type { EntityModule } from './define.ts';
import { readableFields } from './exposure.ts';
import { choice, integer, text, textList, timestamp, type Fields } from './fields.ts';

/** What every entry of a history says, whatever the kind. */
export const entryFields = {
  // An id, also of what is not there any more, so it leads nowhere.
  recordId: { ...text('Id of the changed record.', { max: 26 }), type: 'reference' },
  operation: choice('Operation that changed the record.', ['created', 'updated', 'deleted']),
  recordVersion: integer('Version of the record after the change.', { min: 1, max: 2_147_483_647 }),
  changedFields: textList('Fields whose values changed.', { max: 100, maxItems: 1_000 }),
  actor: text('Who made the change.', { max: 200 }),
  requestId: text('Id of the request that made the change.', { max: 200 }),
  recordedAt: timestamp('When the change was made.'),
} as const satisfies Fields;

const known = new WeakMap<EntityModule, EntityModule>();

/**
 * The history of a kind as a kind of its own, which is only read: its entries, each with what the record's exposed fields
 * held afterwards. Where its rows come from, and who sees them, says read/source.ts.
 * @throws TypeError when a field of the kind is called like one that every entry has
 */
export function historyOf(module: EntityModule): EntityModule {
  const made = known.get(module) ?? derived(module);
  known.set(module, made);
  return made;
}

function derived(module: EntityModule): EntityModule {
  const shown = readableFields(module).map(([name, field]) => {
    if (Object.hasOwn(entryFields, name))
      throw new TypeError(`entity "${module.kind}": histories use "${name}" themselves`);
    // Entries written before the kind had the field do not have it either.
    return [name, { ...field, optional: true }] as const;
  });
  const fields = { ...entryFields, ...Object.fromEntries(shown) } as Fields;
  return {
    kind: `${module.kind}History`,
    typeName: `${module.typeName}History`,
    topic: `${module.topic}_history`,
    table: `${module.topic}_histories`,
    description: `History entry: one change of a ${module.typeName} record.`,
    historyOf: module,
    fields,
    tenancy: { none: 'visibility follows the records that it describes' },
    expose: Object.fromEntries(Object.keys(fields).map((name) => [name, 'read'])),
    filter: ['recordId', 'operation', 'actor', 'requestId', 'recordedAt'],
    order: ['recordedAt'],
    events: [],
  };
}
