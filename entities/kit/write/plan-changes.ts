import { refreshCaller } from '../access/principal-state.ts';
import { AppError } from '../base/errors.ts';
import { inputError } from '../base/input-error.ts';
import type { Caller } from '../model/caller.ts';
import { differences, organizationOf } from '../model/recorded-changes.ts';
import type { EntityModule } from '../model/define.ts';
import { elsewhereHint, refuseWithoutOrganization } from '../model/current-organization.ts';
import { deniedMessage } from '../model/denied-message.ts';
import { momentProblems } from '../model/composed/moment.ts';
import { wholeProblems } from '../model/input.ts';
import { missingRecord } from '../model/missing-record.ts';
import { refuseBeyondLimits, refuseDisabledModule } from '../model/module-gate.ts';
import { claimFiles } from './claim-files.ts';
import type { ChangeWork, Stamp } from './change-work.ts';
import { behavioursOf, canHold, heldChanges, recordHeld } from './change-behaviour.ts';
import { refusedLastingRight } from './lasting-rights.ts';
import { hasDependents, lockInOrder } from './lock-order.ts';
import {
  isMove,
  lockHierarchies,
  openProblems,
  referenceError,
  referencesIn,
  type ReferenceProblem,
} from './references.ts';
import { refusedChanges } from './refused-changes.ts';
import { withDerivedValues } from './run-hooks.ts';
import { erasedSecrets, withSealedValues } from './sealed-values.ts';

type Row = Record<string, unknown>;

export type ExpectedVersion = number | readonly number[];

/** A change of one or more records: the same values for all of them, or values of its own for each. */
export interface ChangeRequest {
  readonly module: EntityModule;
  readonly ids: readonly string[];
  readonly operation: 'edit' | 'remove';
  /** Validated values by field; with `valuesOf`, every field that one of the records gets. */
  readonly values: Readonly<Row>;
  /** Validated values of each record, by its id, where they differ. */
  readonly valuesOf?: ReadonlyMap<string, Readonly<Row>>;
  /** The version on which the change is based, or several of which it can be any; undefined: any. */
  readonly recordVersion?: ExpectedVersion | undefined;
  readonly caller: Caller;
  readonly stamp: Stamp;
}

/** How the rows of a change are locked and authorized: a single row by the authorization store, a set of rows by one statement. */
export interface RowAccess {
  /** Locks the rows until the end of the transaction. */
  lock(): Promise<void>;
  /** The locked rows that the caller may view, by id. @param caller as refreshed after the wait for locks */
  read(caller: Caller): Promise<ReadonlyMap<string, AuthorizedRow>>;
}

export interface AuthorizedRow {
  readonly row: Row;
  may(operation: 'edit' | 'remove'): boolean | Promise<boolean>;
}

export interface ChangePlan {
  /** The caller as refreshed after the wait for locks. */
  readonly caller: Caller;
  /** Rows that will change, with all values to write: those that the caller sent and those that the kind derives. */
  readonly changes: readonly PlannedChange[];
  /** Rows that already have the values of the change. */
  readonly unchanged: ReadonlyMap<string, Row>;
  /** The errors of records that are not changed, by id. */
  readonly refusals: ReadonlyMap<string, AppError>;
}

export interface PlannedChange {
  readonly row: Row;
  readonly values: Readonly<Row>;
}

/** The change of one of the records by itself. */
function requestFor(request: ChangeRequest, id: string): ChangeRequest {
  const own = request.valuesOf?.get(id);
  return own ? { ...request, values: own } : request;
}

/**
 * Decides for each record whether and how it is changed: locks it, reads it with the caller's current rights, and checks rules,
 * version and references. It writes nothing but what behaviours record of fields that they hold.
 * @throws AppError, see `claimFiles`; module_not_enabled, no_current_organization; permission_denied beyond the scopes of a token; not_found, permission_denied for references that the caller may not set
 */
export async function planChanges(work: ChangeWork, request: ChangeRequest, access: RowAccess): Promise<ChangePlan> {
  const { module, ids, values } = request;
  refuseWithoutOrganization(module, request.caller);
  refuseDisabledModule(module, request.caller);
  refuseBeyondLimits(module, request.operation, request.caller);
  await lockHierarchies(work, request.caller, module, values);
  if (request.operation === 'remove' && hasDependents(work.registry, module))
    await lockInOrder(work, request.caller, [request]);
  await access.lock();
  // While this transaction waited for locks, the caller may have lost a role or a group.
  const caller = await refreshCaller(work, request.caller);
  const rows = await access.read(caller);

  const refusals = new Map<string, AppError>();
  const unchanged = new Map<string, Row>();
  const changes: PlannedChange[] = [];
  for (const id of ids) {
    const found = rows.get(id);
    const own = requestFor(request, id);
    const refusal = found ? await refusalOf(work, found, own, caller) : missingRecord(module, id);
    if (refusal) refusals.set(id, refusal);
    if (!found || refusal) continue;
    const given = differences(found.row, own.values);
    // A change without a difference gets no version, history entry or event. Writes to a kind without rules are dropped without
    // an error.
    if (Object.keys(given).length === 0 || !module.policy) unchanged.set(id, found.row);
    else changes.push({ row: found.row, values: valuesToWrite(own, given) });
  }
  const about = { module, caller, operation: request.operation };
  const refused = await refusedChanges(
    work,
    about,
    changes.map(({ row, values: written }) => ({ row, given: written })),
  );
  for (const [id, refusal] of refused) refusals.set(id, refusal);
  const open = changes.filter(({ row }) => !refused.has(row['id'] as string));
  for (const [id, problems] of await hierarchyProblems(work, caller, module, open))
    refusals.set(id, referenceError(problems));
  const allowed = open.filter(({ row }) => !refusals.has(row['id'] as string));
  const planned = canHold(module)
    ? await withoutHeld(work, { ...request, caller }, allowed, { unchanged, refusals })
    : allowed;
  if (request.operation === 'edit')
    await claimFiles(
      work,
      caller,
      planned.map(({ row, values: written }) => ({
        module,
        values: written,
        changed: differences(row, written),
        path: '',
      })),
    );
  const sealed = planned.map(async ({ row, values: written }) => ({
    row,
    values: await withSealedValues(work.options, module, row['id'] as string, written),
  }));
  return { caller, changes: await Promise.all(sealed), unchanged, refusals };
}

async function refusalOf(
  work: ChangeWork,
  found: AuthorizedRow,
  request: ChangeRequest,
  caller: Caller,
): Promise<AppError | undefined> {
  const { module, operation, values, recordVersion } = request;
  const { row } = found;
  if (!module.policy) return undefined;
  if (!(await found.may(operation))) return denied(module, operation, row, caller);
  const given = differences(row, values);
  for (const { check } of behavioursOf(module)) {
    const refused = await check?.({
      work,
      registry: work.registry,
      module,
      caller,
      operation,
      row,
      values,
      changed: given,
    });
    if (refused) return refused;
  }
  const wrong = refusedValues(request, row);
  if (wrong) return wrong;
  const refusedRight = operation === 'edit' && refusedLastingRight(module, caller, given, operation);
  if (refusedRight) return refusedRight;
  const expected = recordVersion === undefined ? undefined : [recordVersion].flat();
  if (expected && !expected.includes(row['recordVersion'] as number))
    return new AppError(
      'stale_record',
      `The ${module.typeName} is at version ${String(row['recordVersion'])}, not ${expected.join(' or ') || 'one that the request expects'}; read it again and repeat the change.`,
    );
  if (isMove(module, Object.keys(given)) && !(await found.may('remove'))) return refusedMove(module, row, caller);
  return undefined;
}

/** The error for values that are not valid together with the others of the record. */
function refusedValues({ module, values, stamp }: ChangeRequest, row: Row): AppError | undefined {
  const whole = { ...row, ...values };
  const problems = [...wholeProblems(module, whole), ...momentProblems(module, values, whole, stamp.at)];
  return problems.length > 0 ? inputError(problems) : undefined;
}

/**
 * The changes without the fields and deletions that behaviours hold. The rest of such a change must be valid by itself; a record of which
 * no field is left stays unchanged, and so does one whose deletion is held.
 * @param plan gets the records that are not changed
 */
async function withoutHeld(
  work: ChangeWork,
  request: ChangeRequest,
  allowed: readonly PlannedChange[],
  plan: { readonly unchanged: Map<string, Row>; readonly refusals: Map<string, AppError> },
): Promise<PlannedChange[]> {
  const { module, operation, ids, caller } = request;
  const ownOf = (row: Row) => requestFor(request, row['id'] as string);
  for (const id of ids) work.held.delete(id);
  const wanted = allowed.map(({ row }) => ({
    row,
    changed: operation === 'edit' ? differences(row, ownOf(row).values) : {},
  }));
  const { held, refused: unheld } = await heldChanges(work, caller, { module, operation, changes: wanted });
  for (const [id, refusal] of unheld) plan.refusals.set(id, refusal);
  const open = allowed.filter(({ row }) => !unheld.has(row['id'] as string));
  const heldOf = Map.groupBy(held, ({ id }) => id);
  if (operation === 'remove') {
    for (const [id, own] of heldOf) work.held.set(id, { fields: own.flatMap(({ fields }) => fields), isWhole: true });
    await recordHeld(work, caller, { module, operation }, held);
    for (const { row } of open) if (work.held.has(row['id'] as string)) plan.unchanged.set(row['id'] as string, row);
    return open.filter(({ row }) => !heldOf.has(row['id'] as string));
  }
  const rests = open.flatMap(({ row }) => {
    const fields = heldOf.get(row['id'] as string)?.flatMap((change) => change.fields);
    const rest = Object.entries(ownOf(row).values).filter(([name]) => !fields?.some(({ field }) => field === name));
    return fields ? [{ row, fields, values: Object.fromEntries(rest) }] : [];
  });
  const changes = rests.map(({ row, values: given }) => ({ row, given }));
  const refused = await refusedChanges(work, { module, caller, operation: 'edit' }, changes);
  const planned = open.filter(({ row }) => !heldOf.has(row['id'] as string));
  for (const { row, fields, values: given } of rests) {
    const id = row['id'] as string;
    const rest = { ...request, values: given };
    const refusal = refusedValues(rest, row) ?? refused.get(id);
    const changed = differences(row, given);
    if (refusal) plan.refusals.set(id, refusal);
    else work.held.set(id, { fields, isWhole: Object.keys(changed).length === 0 });
    if (!refusal && Object.keys(changed).length === 0) plan.unchanged.set(id, row);
    else if (!refusal) planned.push({ row, values: valuesToWrite(rest, changed) });
  }
  await recordHeld(
    work,
    caller,
    { module, operation },
    held.filter(({ id }) => work.held.has(id)),
  );
  return planned;
}

function denied(module: EntityModule, operation: 'edit' | 'remove', row: Row, caller: Caller): AppError {
  const message = deniedMessage(module, { operation, caller, row }) + elsewhereHint(module, operation, row, caller);
  return new AppError('permission_denied', message);
}

/** The right to change a record is not enough to move it out of the reach of others. */
function refusedMove(module: EntityModule, row: Row, caller: Caller): AppError {
  const { message } = denied(module, 'remove', row, caller);
  return new AppError('permission_denied', `To move a record, you need the right to delete it. ${message}`);
}

/** The values of the change and those that the kind derives from them. */
function valuesToWrite({ module, operation, values, stamp }: ChangeRequest, given: Row): Row {
  if (operation === 'remove') return { ...values, ...erasedSecrets(module) };
  return { ...values, ...withDerivedValues(module, given, values, { operation: 'update', at: stamp.at }) };
}

/**
 * Problems of records whose new position in a hierarchy is not valid, by id.
 * @throws AppError for problems of a reference that concern all records
 */
async function hierarchyProblems(
  work: ChangeWork,
  caller: Caller,
  module: EntityModule,
  changes: readonly PlannedChange[],
): Promise<Map<string, ReferenceProblem[]>> {
  const given = changes.flatMap(({ row, values }) => {
    const about = { organizationId: organizationOf(module, row), from: row['id'] as string, path: '' };
    return referencesIn(module, differences(row, values), about);
  });
  const problems = await openProblems(work, caller, given);
  const general = problems.filter(({ code }) => code !== 'invalid_input');
  if (general.length > 0) throw referenceError(general);
  return Map.groupBy(problems, ({ reference }) => reference.from as string);
}
