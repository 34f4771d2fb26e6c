import { registry } from '#entities/index.ts';
import { defineEntityModule, type EntityModule } from '#entities/kit/model/define.ts';
import {
  choice,
  flag,
  integer,
  json,
  member,
  reference,
  text,
  textList,
  timestamp,
} from '#entities/kit/model/fields.ts';
import { allow, anyone, deny, related, role, system, through, type Policy } from '#entities/kit/model/policy.ts';
import type { TupleGrant } from '#entities/kit/model/tuples.ts';
import { createRegistry, type Registry } from '#entities/kit/model/registry.ts';

/**
 * Kinds of a realistic size: 15 fields, 4 of them references. Every third kind decides rights record by record, and every ninth
 * can also be shared with groups, which adds a kind (`thing0Share`). They refer to the product's users, groups and
 * organizations, so a registry needs the product's kinds as well: see `syntheticRegistry`.
 */
export function syntheticKinds(count = 110): EntityModule[] {
  return Array.from({ length: count }, (_none, index) => syntheticKind(index));
}

/**
 * The product's kinds and the synthetic ones. `openWorld({ registry })` opens an installation with their tables, and
 * `createTables` (synthetic-tables.ts) creates the tables in any migrated database.
 */
export function syntheticRegistry(count = 110): Registry {
  return registryWith(syntheticKinds(count));
}

/** The product's kinds and these. */
export function registryWith(kinds: readonly EntityModule[]): Registry {
  const derived = new Set([
    'creatorGrant',
    ...registry.modules.flatMap(({ kind, share, files, sides, automation }) => [
      ...(sides ? [kind] : []),
      ...(share ? [`${kind}Share`] : []),
      ...(files ? [`${kind}File`] : []),
      ...(automation ? [`${kind}Proposal`] : []),
    ]),
  ]);
  return createRegistry([...registry.modules.filter(({ kind }) => !derived.has(kind)), ...kinds]);
}

function syntheticKind(index: number): EntityModule {
  const hasRecordRights = index % 3 === 0;
  const isShared = index % 9 === 0;
  const kind = `thing${index}`;
  return defineEntityModule({
    kind,
    table: `thing${index}s`,
    description: `Test records of kind ${index}.`,
    fields: {
      name: text('Name.', { max: 160, exposed: 'read-write', lists: ['filter', 'order', 'search'] }),
      details: text('Description in several lines.', {
        max: 2_000,
        optional: true,
        exposed: 'read-write',
        lists: ['search'],
      }),
      status: choice('Progress status.', ['open', 'in_progress', 'done'], {
        default: 'open',
        exposed: 'read-write',
        lists: ['filter'],
      }),
      level: choice('Severity.', ['low', 'middle', 'high'], {
        default: 'low',
        exposed: 'read-write',
        lists: ['filter'],
      }),
      priority: integer('Priority; higher numbers come first.', {
        min: 0,
        max: 100,
        default: 0,
        exposed: 'read-write',
        lists: ['filter', 'order'],
      }),
      sizeBytes: integer('Size in bytes.', { min: 0, max: Number.MAX_SAFE_INTEGER, default: 0, exposed: 'read-write' }),
      isArchived: flag('Whether the record is archived.', { default: false, exposed: 'read-write' }),
      dueAt: timestamp('Due date.', { optional: true, exposed: 'read-write', lists: ['filter', 'order'] }),
      doneAt: timestamp('Completion date.', { optional: true, exposed: 'read-write' }),
      tags: textList('Search tags.', { max: 64, maxItems: 50, exposed: 'read-write', lists: ['filter'] }),
      settings: json('Settings.', { maxBytes: 4_096, optional: true, exposed: 'read-write' }),
      parentId: reference(kind, 'Parent record.', {
        optional: true,
        onDelete: 'cascade',
        reverse: 'children',
        exposed: 'read-write',
        lists: ['filter'],
      }),
      relatedId: reference(index === 0 ? 'organization' : `thing${index - 1}`, 'Related record of another kind.', {
        optional: true,
        reverse: `related${index}`,
        exposed: 'read-write',
        lists: ['filter'],
      }),
      groupId: reference('group', 'Responsible group.', {
        optional: true,
        reverse: `things${index}`,
        exposed: 'read-write',
        lists: ['filter'],
      }),
      keeperId: member('Responsible person.', {
        optional: true,
        onLeave: 'keep',
        reverse: `kept${index}`,
        exposed: 'read-write',
        lists: ['filter'],
      }),
    },
    displayId: `ZZZ${letters(index)}`,
    tenancy: 'organization',
    policy: hasRecordRights ? recordRights(isShared) : roleRights,
    mutate: ['create', 'update', 'delete'],
    events: ['created', 'updated', 'deleted'],
    ...(isShared ? { share: true } : {}),
    ...(hasRecordRights ? { grants: [keeperGrant(kind)] } : {}),
  });
}

const roleRights: Policy = {
  view: [allow(system), allow(role('owner', 'admin', 'member')), deny(anyone)],
  create: [allow(system), allow(role('owner', 'admin', 'member'))],
  edit: [allow(system), allow(role('owner', 'admin'))],
  remove: [allow(system), allow(role('owner'))],
};

function recordRights(isShared: boolean): Policy {
  const refused = isShared ? [deny(related('blocked'))] : [];
  const viewers = isShared ? related('keeper', 'viewer', 'editor') : related('keeper');
  const editors = isShared ? related('keeper', 'editor') : related('keeper');
  return {
    view: [allow(system), allow(role('owner')), ...refused, allow(viewers), allow(through('parentId')), deny(anyone)],
    create: [allow(system), allow(role('owner', 'admin', 'member'))],
    edit: [allow(system), allow(role('owner')), ...refused, allow(editors), allow(through('parentId'))],
    remove: [allow(system), allow(role('owner')), ...refused, allow(related('keeper'))],
  };
}

function keeperGrant(kind: string): TupleGrant<'keeperId'> {
  return { object: { kind, id: 'id' }, relation: 'keeper', subject: { kind: 'user', id: 'keeperId' } };
}

/** Two letters for each index. */
function letters(index: number): string {
  return [Math.floor(index / 26), index % 26].map((letter) => String.fromCodePoint(65 + letter)).join('');
}
