import { askingActionOf, isAsking } from '../approvals/asking-action.ts';
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
import { matchChange } from './match-change.ts';

/** A definition that is tried. */
export interface Trial {
  readonly unit: UnitOfWork;
  /** With the rights of the server. */
  readonly data: DataClient;
  readonly expressions: Expressions;
  readonly organizationId: string;
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

/** Evaluates a definition for a change, and writes nothing: actions run as if each of them had succeeded, and nobody had decided yet. */
export async function tryChange(trial: Trial, tried: TrialChange): Promise<TriedChange> {
  const { recordId, change } = tried;
  const { unit, data, expressions, module, document } = trial;
  const context = { data, registry: unit.registry, expressions };
  const versions = [{ document }];
  const { matched, failed, cost } = await matchChange(context, { module, recordId, change, versions });
  const starts = matched.length > 0;
  const failures = failed.map(({ message }) => message);
  if (!starts) return { starts, holds: false, failures, cost, actions: [] };
  const holds = holdsChange(publicationOf(document, module, unit.registry), change);
  const run = await runningActions(trial, recordId, change);
  const actions: TriedAction[] = [];
  for (const action of run.actions)
    actions.push({ key: action.key, type: action.type, userIds: await askedPeople(trial, action, tried, holds) });
  return { starts, holds, failures: [...failures, ...run.failures], cost: cost + run.cost, actions };
}

/** The actions whose `when` is true, and those of which it cannot be evaluated. */
async function runningActions({ expressions, module, document }: Trial, recordId: string, change: ChangeFacts) {
  const conditional = document.actions.flatMap((action, actionIndex) =>
    action.when === undefined ? [] : [{ action, actionIndex, expression: action.when }],
  );
  const items = conditional.map(({ action, actionIndex, expression }) => {
    const run = notBegun({ actionIndex, objectId: recordId, actionKey: action.key, initiatorId: change.userId });
    return { expression, variables: valuesOf(module, change, run), expected: 'bool' };
  });
  const results =
    items.length === 0 ? [] : await expressions.evaluate({ environment: environmentOf(module, 'action'), items });
  const resultOf = new Map(conditional.map(({ action }, index) => [action, results[index]]));
  return {
    actions: document.actions.filter((action) => {
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
  holds: boolean,
): Promise<string[]> {
  const { params } = action;
  if (!('targets' in params) || params.targets.length === 0) return [];
  const { operation, object, userId: initiatorId } = change;
  // The record of a deletion that is written is gone when people are asked.
  const isGone = operation === 'delete' && !holds;
  const record = { ...object, id: subjectId, ...(operation === 'create' && { createdBy: actor }), updatedBy: actor };
  const context = { change: { actor } };
  const instance = { organizationId, subjectId, initiatorId, initiatorTokenId: tokenIn(actor), context };
  const asked: AskedChange = { instance, module, record: isPresent && !isGone ? record : undefined };
  const work = { unit, data };
  const named = await peopleOf(work, { instance, module, record: isGone ? undefined : record }, params.targets);
  if (!isAsking(action)) return [...(await viewersOf(work, asked, named))].toSorted();
  const eligible = await eligibleOf(work, asked, named);
  const people = eligible.size > 0 ? eligible : await escalationOf(work, asked, askingActionOf(action, document));
  return [...people].toSorted();
}
