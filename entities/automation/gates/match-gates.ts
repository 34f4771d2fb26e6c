import type { EntityModule } from '../../kit/model/define.ts';
import type { HoldableChange } from '../../kit/write/held-changes.ts';
import type { ApprovalAction } from '../document/definition-document.ts';
import { environmentOf } from '../document/expression-environment.ts';
import { notBegun, valuesOf, valuesOfRun } from '../document/expression-values.ts';
import type { Expressions } from '../document/expressions.ts';
import { tracedExpressions, type TracedExpression } from '../document/traced-expressions.ts';
import { selectedTriggers, type SelectorFacts } from '../matching/selector-facts.ts';
import type { Gate } from './gate.ts';

/** Changes of records of one kind. */
export interface GatedChanges {
  readonly module: EntityModule;
  readonly operation: 'edit' | 'remove';
  readonly changes: readonly HoldableChange[];
  /** Person who makes them; null for a program. */
  readonly userId: string | null;
  readonly at: Date;
}

/** A change that a gate holds. */
export interface GateMatch {
  readonly gate: Gate;
  readonly row: HoldableChange['row'];
  /** Held fields; none for a deletion. */
  readonly fields: readonly string[];
  /** Keys of the approvals that it needs. */
  readonly approvals: readonly string[];
  /** Messages of its expressions that cannot be evaluated. */
  readonly failures: readonly string[];
  readonly traced: readonly TracedExpression[];
}

/** Changes that gates hold, and what their expressions cost. */
export interface GateMatches {
  readonly matches: readonly GateMatch[];
  readonly cost: number;
}

/** The operation of a change, as definitions and proposals name it. */
export function triggerOf(operation: GatedChanges['operation']): 'update' | 'delete' {
  return operation === 'edit' ? 'update' : 'delete';
}

/** A gate that may hold a change, with the numbers of its expressions in the batch. */
interface Candidate {
  readonly gate: Gate;
  readonly change: HoldableChange;
  /** One of them must be true. */
  readonly triggers: readonly (readonly number[])[];
  /** All must be true. */
  readonly conditions: readonly number[];
  /** Approvals that concern the change. Each must be true for its fields to be held. */
  readonly approvals: readonly {
    readonly key: string;
    readonly fields: readonly string[];
    readonly when: readonly number[];
  }[];
}

/**
 * Decides which gates hold which changes. All expressions are evaluated in one batch under one limit of time. A change is held
 * if an expression fails or takes too long.
 */
export async function matchGates(
  gates: readonly Gate[],
  changes: GatedChanges,
  expressions: Expressions,
  factsOf: (change: HoldableChange) => SelectorFacts,
): Promise<GateMatches> {
  const batch = new Batch(changes);
  const candidates: Candidate[] = [];
  for (const change of changes.changes) {
    const facts = factsOf(change);
    for (const gate of gates) {
      const candidate = await candidateOf(gate, changes, change, { batch, facts });
      if (candidate) candidates.push(candidate);
    }
  }
  if (candidates.length === 0) return { matches: [], cost: 0 };
  const { isHeld, failuresOf, tracedOf, cost } = await batch.evaluate(expressions);
  const all = (numbers: readonly number[]) => numbers.every(isHeld);
  const matches = candidates.flatMap(({ gate, change, triggers, conditions, approvals }): GateMatch[] => {
    const applying = approvals.filter(({ when }) => all(when));
    if (!triggers.some(all) || !all(conditions) || applying.length === 0) return [];
    const fields = [...new Set(applying.flatMap((approval) => approval.fields))].toSorted();
    const evaluated = [...triggers.flat(), ...conditions, ...approvals.flatMap(({ when }) => when)];
    const keys = applying.map(({ key }) => key);
    return [
      { gate, row: change.row, fields, approvals: keys, failures: failuresOf(evaluated), traced: tracedOf(evaluated) },
    ];
  });
  return { matches, cost };
}

async function candidateOf(
  gate: Gate,
  { operation }: GatedChanges,
  change: HoldableChange,
  { batch, facts }: { readonly batch: Batch; readonly facts: SelectorFacts },
): Promise<Candidate | undefined> {
  const { document } = gate;
  const approvals = gate.approvals.flatMap(({ action, fields }) => {
    const held = fields.filter((field) => Object.hasOwn(change.changed, field));
    return operation === 'remove' || held.length > 0 ? [{ action, fields: operation === 'edit' ? held : [] }] : [];
  });
  if (approvals.length === 0) return undefined;
  const proposed = { operation: triggerOf(operation), changedFields: Object.keys(change.changed) };
  const triggers = await selectedTriggers(document, proposed, facts);
  if (triggers.length === 0) return undefined;
  const ask = (expression: string | undefined, action?: ApprovalAction) =>
    expression === undefined ? [] : [batch.add(expression, { gate, change, action })];
  return {
    gate,
    change,
    triggers: triggers.map(({ expression }) => ask(expression)),
    conditions: (document.conditions ?? []).flatMap(({ expression }) => ask(expression)),
    approvals: approvals.map(({ action, fields }) => ({ key: action.key, fields, when: ask(action.when, action) })),
  };
}

interface Asked {
  readonly gate: Gate;
  readonly change: HoldableChange;
  readonly action: ApprovalAction | undefined;
}

/** Results of the expressions of a batch, by their numbers. */
interface Evaluated extends Pick<GateMatches, 'cost'> {
  /** Whether an expression holds the change: it is true, or cannot be evaluated. */
  readonly isHeld: (number: number) => boolean;
  /** Messages of those that cannot be evaluated. */
  readonly failuresOf: (numbers: readonly number[]) => string[];
  /** Values of the parts of some expressions. */
  readonly tracedOf: (numbers: readonly number[]) => TracedExpression[];
}

/** The expressions of all candidates. */
class Batch {
  readonly #changes: GatedChanges;
  readonly #items: {
    readonly expression: string;
    readonly variables: Record<string, unknown>;
    readonly expected: 'bool';
  }[] = [];

  readonly #known = new Map<HoldableChange, Record<string, unknown>>();

  constructor(changes: GatedChanges) {
    this.#changes = changes;
  }

  /** @returns the number of the expression */
  add(expression: string, asked: Asked): number {
    return this.#items.push({ expression, variables: this.#variables(asked), expected: 'bool' }) - 1;
  }

  async evaluate(expressions: Expressions): Promise<Evaluated> {
    const items = this.#items;
    const { module } = this.#changes;
    // Expressions of actions know all variables of those of triggers.
    const results =
      items.length === 0
        ? []
        : await expressions.evaluate({ environment: environmentOf(module, 'action'), items, together: true });
    return {
      failuresOf: (numbers) =>
        numbers.flatMap((number) => {
          const result = results[number];
          return result && 'error' in result ? [result.error.message] : [];
        }),
      cost: results.reduce((sum, { cost }) => sum + cost, 0),
      isHeld: (number) => {
        const result = results[number];
        return result === undefined || 'error' in result || result.value !== false;
      },
      tracedOf: (numbers) =>
        numbers.flatMap((number) =>
          tracedExpressions(items.slice(number, number + 1), results.slice(number, number + 1)),
        ),
    };
  }

  #variables({ gate: { definitionId }, change, action }: Asked): Record<string, unknown> {
    const { module, userId: initiatorId } = this.#changes;
    const objectId = change.row['id'] as string;
    const run = notBegun({ definitionId, objectId, actionKey: action?.key ?? '', initiatorId });
    return { ...this.#variablesOf(change), ...valuesOfRun(module, run) };
  }

  /** Those about the change alone, for all expressions. */
  #variablesOf(change: HoldableChange): Record<string, unknown> {
    const known = this.#known.get(change);
    if (known) return known;
    const { row, changed } = change;
    const { module, operation, userId, at } = this.#changes;
    const values = valuesOf(module, {
      operation: triggerOf(operation),
      object: { ...row, ...changed },
      oldObject: row,
      userId,
      changedFields: Object.keys(changed),
      at,
      proposedChanges: changed,
    });
    this.#known.set(change, values);
    return values;
  }
}
