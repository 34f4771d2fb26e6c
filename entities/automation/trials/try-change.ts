import { askingActionOf, isAsking, isOfGate } from '../approvals/asking-action.ts';
import { peopleOf } from '../approvals/targets.ts';
import { eligibleOf, escalationOf, viewersOf, type AskedChange } from '../approvals/who-counts.ts';
import type { Action, DefinitionDocument } from '../document/definition-document.ts';
import { environmentOf } from '../document/expression-environment.ts';
import { notBegun, valuesOf, type ChangeFacts } from '../document/expression-values.ts';
import type { Expressions } from '../document/expressions.ts';
import { holdsChange, publicationOf } from '../document/publication.ts';
import type { EntityModule } from '../../kit/model/define.ts';
import type { UnitOfWork } from '../../kit/unit/unit-of-work.ts';
import type { DataClient } from '../../kit/unit/data-client.ts';
import { tokenIn } from '../../kit/model/caller.ts';
import { preparedGate } from '../gates/gate.ts';
import { matchGates } from '../gates/match-gates.ts';
import { instanceOfActor } from '../matching/instance-actor.ts';
import { matchChange } from '../matching/match-change.ts';
import { SelectorFacts } from '../matching/selector-facts.ts';

/** A definition that is tried. */
export interface Trial {
  readonly unit: UnitOfWork;
  /** With the rights of the server. */
  readonly data: DataClient;
  readonly expressions: Expressions;
  readonly organizationId: string;
  readonly definitionId: string;
  readonly module: EntityModule;
  readonly document: DefinitionDocument;
}

/** A change that a definition is tried with. */
export interface TrialChange {
  readonly recordId: string;
  readonly change: ChangeFacts;
  /** The person or program that made it. */
  readonly actor: string;
  /** Of a record that is deleted or was never there, nobody can say who may view it. */
  readonly isPresent: boolean;
}

/** An action that would have run, and the people whom it would have asked or notified. */
export interface TriedAction {
  readonly key: string;
  readonly type: Action['type'];
  readonly userIds: readonly string[];
}

/** Effects that a definition would have had on a change. */
export interface TriedChange {
  readonly starts: boolean;
  /** The change would have waited for approvals. */
  readonly holds: boolean;
  /** Why it is not known whether it starts, or whether an action runs. */
  readonly failures: readonly string[];
  readonly cost: number;
  readonly actions: readonly TriedAction[];
}

const nothing: TriedChange = { starts: false, holds: false, failures: [], cost: 0, actions: [] };

/** Evaluates a definition for a change, and writes nothing: actions run as if each of them had succeeded, and nobody had decided yet. */
export function tryChange(trial: Trial, tried: TrialChange): Promise<TriedChange> {
  const { unit, module, document } = trial;
  const { change, actor } = tried;
  const { operation, changedFields, changedEdges = [] } = change;
  // It changes nothing.
  if (operation === 'update' && changedFields.length + changedEdges.length === 0) return Promise.resolve(nothing);
  if (!holdsChange(publicationOf(document, module, unit.registry), change)) return tryWrittenChange(trial, tried);
  // Changes of the server itself pass gates, and start nothing of them.
  const isOfServer = actor.startsWith('system:') && instanceOfActor(actor) === undefined;
  return isOfServer ? Promise.resolve(nothing) : tryHeldChange(trial, tried);
}

async function tryWrittenChange(trial: Trial, tried: TrialChange): Promise<TriedChange> {
  const { recordId, change } = tried;
  const { unit, data, expressions, module, document } = trial;
  const versions = [{ document }];
  const found = await matchChange({ unit, data, expressions }, { module, recordId, change, versions });
  const failures = found.failed.map(({ message }) => message);
  if (found.matched.length === 0) return { ...nothing, failures, cost: found.cost };
  const run = await laterActions(trial, recordId, change);
  const actions: TriedAction[] = [];
  for (const action of run.actions) actions.push(triedAction(action, await askedPeople(trial, action, tried)));
  return {
    starts: true,
    holds: false,
    failures: [...failures, ...run.failures],
    cost: found.cost + run.cost,
    actions,
  };
}

/** As the gate decides before the change is written, and as its actions run afterwards. */
async function tryHeldChange(trial: Trial, tried: TrialChange): Promise<TriedChange> {
  const { recordId, change } = tried;
  const { unit, data, expressions, definitionId, module, document } = trial;
  const { object, userId, at } = change;
  const row = change.oldObject ?? object;
  // Moments follow from other fields when the change is written.
  const given = change.changedFields.filter(
    (name) => !change.changedFields.includes(module.fields[name]?.momentOf?.field ?? ''),
  );
  const changed = picked(object, given);
  const gate = preparedGate({ id: '', definitionId, recordKind: module.kind, document, name: '' }, unit.registry);
  const operation = change.operation === 'delete' ? 'remove' : 'edit';
  const facts = new SelectorFacts(unit, data, { module, id: recordId, values: object });
  const changes = { module, operation, changes: [{ row, changed }], userId, at } as const;
  const found = await matchGates([gate], changes, expressions, () => facts);
  const [match] = found.matches;
  if (!match) return { ...nothing, cost: found.cost };
  const { fields } = match;
  const written: ChangeFacts = {
    ...change,
    oldObject: { ...object, ...picked(row, fields) },
    changedFields: fields,
    proposedChanges: picked(object, fields),
  };
  const run = await laterActions(trial, recordId, written);
  const running = new Set<Action>(run.actions);
  const actions: TriedAction[] = [];
  for (const action of document.actions)
    if (match.approvals.includes(action.key))
      actions.push(
        triedAction(action, await askedPeople(trial, action, { ...tried, change: { ...change, object: row } }, true)),
      );
    else if (running.has(action)) actions.push(triedAction(action, await askedPeople(trial, action, tried)));
  return {
    starts: true,
    holds: true,
    failures: [...match.failures, ...run.failures],
    cost: found.cost + run.cost,
    actions,
  };
}

function picked(values: ChangeFacts['object'], names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}

function triedAction({ key, type }: Action, userIds: readonly string[]): TriedAction {
  return { key, type, userIds };
}

/** The actions after a change is written whose `when` is true, or cannot be evaluated. Approvals of a gate come before it. */
async function laterActions(
  { expressions, definitionId, module, document }: Trial,
  recordId: string,
  change: ChangeFacts,
) {
  const actions = document.actions.filter((action) => !isOfGate(action, document));
  const conditional = actions.flatMap((action) =>
    action.when === undefined
      ? []
      : [{ action, actionIndex: document.actions.indexOf(action), expression: action.when }],
  );
  const items = conditional.map(({ action, actionIndex, expression }) => {
    const run = notBegun({
      definitionId,
      actionIndex,
      objectId: recordId,
      actionKey: action.key,
      initiatorId: change.userId,
    });
    return { expression, variables: valuesOf(module, change, run), expected: 'bool' };
  });
  const results =
    items.length === 0 ? [] : await expressions.evaluate({ environment: environmentOf(module, 'action'), items });
  const resultOf = new Map(conditional.map(({ action }, index) => [action, results[index]]));
  return {
    actions: actions.filter((action) => {
      const result = resultOf.get(action);
      return result === undefined || 'error' in result || result.value === true;
    }),
    failures: results.flatMap((result) => ('error' in result ? [result.error.message] : [])),
    cost: results.reduce((sum, result) => sum + result.cost, 0),
  };
}

/** People whom an action asks or notifies, by their current rights: nobody knows those of the time of the change. */
async function askedPeople(
  { unit, data, organizationId, module, document }: Trial,
  action: Action,
  { recordId: subjectId, change, actor, isPresent }: TrialChange,
  isHeld = false,
): Promise<string[]> {
  const { params } = action;
  if (!('targets' in params) || params.targets.length === 0) return [];
  const { operation, object, userId: initiatorId } = change;
  // The record of a deletion that is written is gone when people are asked.
  const isGone = operation === 'delete' && !isHeld;
  const record = { ...object, id: subjectId, ...(operation === 'create' && { createdBy: actor }), updatedBy: actor };
  const context = { change: { actor } };
  const instance = { organizationId, subjectId, initiatorId, initiatorTokenId: tokenIn(actor), context };
  const asked: AskedChange = { instance, module, record: isPresent && !isGone ? record : undefined };
  const work = { unit, data };
  const named = await peopleOf(work, { instance, module, record }, params.targets);
  if (!isAsking(action)) return [...(await viewersOf(work, asked, named))].toSorted();
  const eligible = await eligibleOf(work, asked, named);
  const people = eligible.size > 0 ? eligible : await escalationOf(work, asked, askingActionOf(action, document));
  return [...people].toSorted();
}
