import type { Caller } from '../model/caller.ts';
import { tenancyField, type EntityModule } from '../model/define.ts';
import { displayIdOf } from '../base/display-id.ts';
import { AppError } from '../base/errors.ts';
import { withDerivedValues } from './run-hooks.ts';
import { newId } from '../base/ids.ts';
import { refuseDisabledModule } from '../model/module-gate.ts';
import { checkRowCount } from './change-counters.ts';
import { validateCreations, type CreationValues } from '../model/input.ts';

type Row = Record<string, unknown>;

/** A record to be made, with records that hang on it. */
export interface Creation extends CreationValues {
  readonly children?: readonly {
    /** Field by which they refer to this record. */
    readonly field: string;
    readonly creation: Creation;
  }[];
}

/** A row to be written. */
export interface NewRow {
  readonly module: EntityModule;
  readonly row: Row;
  /** Where its input stands in that of the operation, as a JSON pointer. */
  readonly path: string;
  /** Nesting depth; 0 is the root. */
  readonly level: number;
}

export interface Creator {
  readonly caller: Caller;
  /** Who stands in the records as having done it. */
  readonly actor: string;
  readonly at: Date;
}

/**
 * The rows that creations mean, each after the one it hangs on, whole and checked by themselves; rules and references are
 * not asked yet.
 * @throws AppError limit_exceeded, invalid_input, module_not_enabled; permission_denied when they would belong to nobody
 */
export function newRows(creations: readonly Creation[], creator: Creator): NewRow[] {
  const drafts = creations.flatMap((creation) => draftsOf(creation, creator));
  checkRowCount(drafts.length);
  // Before anything is said about the input, to whoever can create nothing at all.
  for (const { module, input } of drafts) {
    refuseDisabledModule(module, creator.caller);
    if (tenancyField(module.tenancy).some((name) => (input[name] ?? null) === null))
      throw new AppError('permission_denied', `Choose an organization before creating a ${module.typeName}.`);
  }
  const values = validateCreations(drafts);
  return drafts.map(({ module, path, level, input }, place) => ({
    module,
    path,
    level,
    row: wholeRow(module, values[place] as Row, input, creator),
  }));
}

/** Whether the right to create it may come from a record that it refers to, which therefore has to be there first. */
export function isDecidedAbove({ module }: NewRow): boolean {
  return (module.policy?.create ?? []).some(({ when }) => when.is === 'through');
}

interface Draft extends CreationValues {
  readonly level: number;
}

function draftsOf({ module, input, path, children = [] }: Creation, creator: Creator, level = 0): Draft[] {
  const id = input['id'] ?? newId(creator.at.getTime());
  return [
    { module, path, level, input: { ...withDefaults(module, creator), ...input, id } },
    ...children.flatMap(({ field, creation }) =>
      draftsOf({ ...creation, input: { ...creation.input, [field]: id } }, creator, level + 1),
    ),
  ];
}

/** What a creation means that does not say it: the caller's own organization, and the person who creates the record. */
function withDefaults(module: EntityModule, { caller }: Creator): Row {
  const home = module.tenancy === 'organization' ? caller.organizationId : caller.subjectId;
  const owners = tenancyField(module.tenancy).map((name) => [name, home]);
  const people = Object.entries(module.fields).filter(([, { creator }]) => creator && caller.kind === 'user');
  return Object.fromEntries([...owners, ...people.map(([name]) => [name, caller.subjectId])]);
}

function wholeRow(module: EntityModule, values: Row, sent: Row, { actor, at }: Creator): Row {
  return {
    ...withDerivedValues(module, values, sent, { operation: 'create', at }),
    ...(module.displayId === undefined ? {} : { displayId: displayIdOf(module.displayId, values['id'] as string) }),
    createdAt: at,
    updatedAt: at,
    createdBy: actor,
    updatedBy: actor,
    recordVersion: 1,
    deletedAt: null,
    deletedBy: null,
  };
}
