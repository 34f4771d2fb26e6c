import type { EntityModule } from '../define.ts';
import { onceForEach } from '../../base/once-for-each.ts';
import { readableFields } from '../exposure.ts';
import type { Fields } from '../declared-field.ts';
import { choice, integer, text, textList, timestamp } from '../fields.ts';

/** Fields of every history entry, of all kinds. */
export const entryFields = {
  // A plain id without a foreign key: the record may be deleted.
  recordId: { ...text('Id of the changed record.', { max: 26 }), type: 'reference' },
  operation: choice('Operation that changed the record.', ['created', 'updated', 'deleted']),
  recordVersion: integer('Version of the record after the change.', { min: 1, max: 2_147_483_647 }),
  changedFields: textList('Fields whose values changed.', { max: 100, maxItems: 1_000 }),
  actor: text('Caller who made the change.', { max: 200 }),
  actorKind: choice(
    'Kind of the caller who made the change: a person, also while somebody else acts as them (user), an API token, support, a visitor without an account, an unauthenticated caller (anonymous), or the server (system).',
    ['user', 'api_token', 'support', 'visitor', 'anonymous', 'system'],
  ),
  actorUserId: { ...text('Person who made the change.', { max: 26, optional: true }), type: 'reference' },
  actingUserId: {
    ...text('Person who made the change while acting as another user.', { max: 26, optional: true }),
    type: 'reference',
  },
  actorTokenId: { ...text('API token that made the change.', { max: 26, optional: true }), type: 'reference' },
  requestId: text('Id of the request that made the change.', { max: 200 }),
  recordedAt: timestamp('When the change was made.'),
} as const satisfies Fields;

/** References of history entries to the record that made the change, by field; each is the kind of the record. */
export const actorReferences = { actorUserId: 'user', actingUserId: 'user', actorTokenId: 'apiToken' } as const;

/**
 * The history of a kind as a read-only kind: each entry has the values of the record's exposed fields after the change.
 * read/from-clause.ts defines where its rows come from and who can see them.
 * @throws TypeError when a field of the kind has the name of a field of every entry
 */
export const historyOf = onceForEach(derived);

function derived(module: EntityModule): EntityModule {
  const shown = readableFields(module).map(([name, field]) => {
    if (Object.hasOwn(entryFields, name))
      throw new TypeError(
        `entity "${module.kind}": "${name}" is a field of history entries, so the kind needs another name for it`,
      );
    // Entries that are older than the field have no value for it.
    return [name, { ...field, optional: true }] as const;
  });
  const fields = { ...entryFields, ...Object.fromEntries(shown) } as Fields;
  return {
    kind: `${module.kind}History`,
    typeName: `${module.typeName}History`,
    topic: `${module.topic}_history`,
    table: `${module.topic}_histories`,
    description: `History entry: one change of one ${module.typeName}.`,
    historyOf: module,
    fields,
    tenancy: { none: 'visibility follows the records that it describes' },
    expose: Object.fromEntries(Object.keys(fields).map((name) => [name, 'read'])),
    filter: ['recordId', 'operation', 'actor', 'requestId', 'recordedAt'],
    order: ['recordedAt'],
    events: [],
  };
}
