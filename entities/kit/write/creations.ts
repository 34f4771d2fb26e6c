import { limitingToken, type Caller } from '../model/caller.ts';
import { tenancyField, type EntityModule } from '../model/define.ts';
import { displayIdOf } from '../base/display-id.ts';
import { AppError, maxProblems, type FieldProblem } from '../base/errors.ts';
import { inputError } from '../base/input-error.ts';
import { momentProblems } from '../model/composed/moment.ts';
import { withDerivedValues } from './run-hooks.ts';
import type { LinkChange } from '../model/links.ts';
import { newId } from '../base/ids.ts';
import { refuseWithoutOrganization } from '../model/current-organization.ts';
import { mayAll } from '../model/policy.ts';
import { refuseBeyondLimits, refuseDisabledModule, refuseWithoutPaymentMethod } from '../model/module-gate.ts';
import { refusedLastingRight } from './lasting-rights.ts';
import { checkRowCount } from './change-counters.ts';
import { firstVersion } from './insert-rows.ts';
import { validateCreations, type CreationValues } from '../model/input.ts';

type Row = Record<string, unknown>;

export interface Creation extends CreationValues {
  readonly children?: readonly {
    /** The field of the child that refers to this record. */
    readonly field: string;
    readonly creation: Creation;
  }[];
  /** The server adds it, so it needs no right of the caller (`complete` of a behaviour). */
  readonly isGranted?: boolean;
}

/** The creation of a link with an existing record, whose other side is filled in. That the caller may make it follows from that side. */
export function linkCreation({ links: { through, other }, path }: LinkChange, id: string, index: number): Creation {
  return { module: through, input: { [other.field]: id }, path: `${path}/${index}`, isGranted: true };
}

/** The creations of the links of a new record, as its children. @throws AppError limit_exceeded */
export function linksAsChildren(changes: readonly LinkChange[]): NonNullable<Creation['children']> {
  return changes
    .filter(({ change }) => change === 'add')
    .flatMap((change) => {
      checkRowCount(change.ids.length, change.path);
      return change.ids.map((id, index) => ({
        field: change.links.own.field,
        creation: linkCreation(change, id, index),
      }));
    });
}

export interface NewRow {
  readonly module: EntityModule;
  readonly row: Row;
  /** JSON pointer of its input in the input of the operation. */
  readonly path: string;
  /** Nesting depth; 0 is the root. */
  readonly level: number;
  /** The caller needs no right to create it. */
  readonly isGranted: boolean;
}

export interface Creator {
  readonly caller: Caller;
  /** The actor that the records name as their creator. */
  readonly actor: string;
  readonly at: Date;
  /** Problems of values that the creations leave out. */
  readonly known: readonly FieldProblem[];
}

/**
 * The complete rows of creations and their children, parents first. Their values are checked; rules and references are not.
 * @throws AppError limit_exceeded, invalid_input, module_not_enabled, payment_method_required; no_current_organization, permission_denied for a caller without organization
 */
export function newRows(creations: readonly Creation[], creator: Creator): NewRow[] {
  const drafts = creations.flatMap((creation) => draftsOf(creation, creator));
  checkRowCount(drafts.filter(({ isGranted }) => !isGranted).length);
  // Checked before the input, so that a caller who cannot create anything gets this error first.
  for (const { module, input, isGranted } of drafts) {
    refuseWithoutOrganization(module, creator.caller);
    refuseDisabledModule(module, creator.caller);
    if (module.needsPaymentMethod && !isGranted) refuseWithoutPaymentMethod(creator.caller);
    if (!isGranted) refuseBeyondLimits(module, 'create', creator.caller);
    if (tenancyField(module.tenancy).some((name) => (input[name] ?? null) === null))
      throw new AppError('permission_denied', `Choose an organization before you create ${module.typeName} records.`);
  }
  const values = validateCreations(drafts, creator.known);
  refuseWrongMoments(drafts, values, creator.at);
  refuseOtherCreators(drafts, creator.caller);
  refuseLastingRights(drafts, creator.caller);
  return drafts.map(({ module, path, level, isGranted, input }, index) => ({
    module,
    path,
    level,
    isGranted,
    row: wholeRow(module, values[index] as Row, input, creator),
  }));
}

/** @throws AppError invalid_input */
function refuseWrongMoments(drafts: readonly Draft[], values: readonly Row[], at: Date): void {
  const problems = drafts.flatMap(({ module, path }, index) => {
    const row = values[index] as Row;
    return momentProblems(module, row, row, at).map((problem) => ({ ...problem, path: `${path}${problem.path}` }));
  });
  if (problems.length > 0) throw inputError(problems);
}

/**
 * Rejects records that name somebody else as their creator (`creator: true`), except by callers who may edit all records of the kind:
 * relations of these fields give rights, and whoever gives them away does so afterwards, with the rights that they have then.
 * @throws AppError permission_denied
 */
function refuseOtherCreators(drafts: readonly Draft[], caller: Caller): void {
  if (caller.kind !== 'user') return;
  const fields = drafts.flatMap(({ module, path, input, isGranted }) => {
    if (isGranted || mayAll(module.policy, caller, { kind: module.kind, operation: 'edit' })) return [];
    return Object.entries(module.fields).flatMap(([name, { creator }]) =>
      creator && input[name] !== caller.subjectId
        ? [{ path: `${path}/${name}`, message: 'must be yourself; leave it out' }]
        : [],
    );
  });
  const [first] = fields;
  if (!first) return;
  const message = `${first.path} ${first.message}. Only owners of the organization can name somebody else.`;
  throw new AppError('permission_denied', message, { details: { fields: fields.slice(0, maxProblems) } });
}

/** @throws AppError permission_denied */
function refuseLastingRights(drafts: readonly Draft[], caller: Caller): void {
  for (const { module, input, path } of drafts) {
    const refusal = refusedLastingRight(module, caller, input, 'create', path);
    if (refusal) throw refusal;
  }
}

/** Whether the right to create the record can come from its parent, which must be written before the right is decided. */
export function isDecidedByParent({ module }: NewRow): boolean {
  return (module.policy?.create ?? []).some(({ when }) => when.is === 'through');
}

interface Draft extends CreationValues {
  readonly level: number;
  readonly isGranted: boolean;
}

function draftsOf(
  { module, input, path, children = [], isGranted = false }: Creation,
  creator: Creator,
  level = 0,
): Draft[] {
  const id = input['id'] ?? newId(creator.at.getTime());
  return [
    { module, path, level, isGranted, input: { ...withDefaults(module, creator), ...input, id } },
    ...children.flatMap(({ field, creation }) =>
      draftsOf({ ...creation, input: { ...creation.input, [field]: id } }, creator, level + 1),
    ),
  ];
}

/** Values for fields that a creation leaves out: the caller's organization, the person who creates the record, and the token of the person. */
function withDefaults(module: EntityModule, { caller }: Creator): Row {
  const home = module.tenancy === 'organization' ? caller.organizationId : caller.subjectId;
  const owners = tenancyField(module.tenancy).map((name) => [name, home]);
  const people = Object.entries(module.fields).filter(([, { creator }]) => creator && caller.kind === 'user');
  const tokens = Object.entries(module.fields).filter(([, { credential }]) => credential);
  return Object.fromEntries([
    ...owners,
    ...people.map(([name]) => [name, caller.subjectId]),
    ...tokens.map(([name]) => [name, limitingToken(caller)]),
  ]);
}

function wholeRow(module: EntityModule, values: Row, sent: Row, creator: Creator): Row {
  return {
    ...withDerivedValues(module, values, sent, { operation: 'create', at: creator.at }),
    ...(module.displayId === undefined ? {} : { displayId: displayIdOf(module.displayId, values['id'] as string) }),
    ...firstVersion(creator),
  };
}
