import type { EntityModule } from '../../kit/model/define.ts';
import type { UnitOfWork } from '../../kit/unit/unit-of-work.ts';
import type { DataClient } from '../../kit/unit/data-client.ts';
import type { Condition, DefinitionDocument, Trigger } from '../document/definition-document.ts';
import { environmentOf } from '../document/expression-environment.ts';
import { valuesOf, type ChangeFacts } from '../document/expression-values.ts';
import type { ExpressionResult, Expressions } from '../document/expressions.ts';
import { tracedExpressions, type TracedExpression } from '../document/traced-expressions.ts';
import { selectedTriggers, SelectorFacts } from './selector-facts.ts';

interface MatchContext {
  /** With the rights of the server. */
  readonly data: DataClient;
  readonly unit: UnitOfWork;
  readonly expressions: Pick<Expressions, 'evaluate'>;
}

/** A change of a record, and documents that may match it. */
export interface MatchRequest<Version> {
  readonly module: EntityModule;
  readonly recordId: string;
  readonly change: ChangeFacts;
  readonly versions: readonly Version[];
  /** All expressions together have the time of one. */
  readonly together?: boolean;
}

export interface MatchResult<Version> {
  readonly matched: readonly { readonly version: Version; readonly traced: readonly TracedExpression[] }[];
  /** Those of which nobody knows whether they match: an expression has failed. */
  readonly failed: readonly { readonly version: Version; readonly message: string }[];
  /** Cost of all expressions. */
  readonly cost: number;
}

type Verdict = 'matches' | 'differs' | { readonly message: string };

/** A document whose triggers fit by operation, fields and selectors. Without triggers, one of them has no expression and matches. */
interface Candidate<Version> {
  readonly version: Version;
  readonly triggers: readonly Trigger[];
  readonly conditions: readonly Condition[];
}

/** Finds the documents that a change starts: by operation, fields, links and selectors, then by their expressions in one batch. */
export async function matchChange<Version extends { readonly document: unknown }>(
  { unit, data, expressions }: MatchContext,
  { module, recordId, change, versions, together = false }: MatchRequest<Version>,
): Promise<MatchResult<Version>> {
  const facts = new SelectorFacts(unit, data, { module, id: recordId, values: change.object });
  const candidates: Candidate<Version>[] = [];
  for (const version of versions) {
    const document = version.document as DefinitionDocument;
    const fitting = await selectedTriggers(document, change, facts);
    if (fitting.length === 0) continue;
    const triggers = fitting.some(({ expression }) => expression === undefined) ? [] : fitting;
    candidates.push({ version, triggers, conditions: document.conditions ?? [] });
  }
  const wanted = candidates.flatMap(({ triggers, conditions }) =>
    [...triggers, ...conditions].flatMap(({ expression }) => (expression === undefined ? [] : [expression])),
  );
  const variables = wanted.length === 0 ? {} : valuesOf(module, change);
  const items = wanted.map((expression) => ({ expression, variables, expected: 'bool' }));
  const results =
    items.length === 0
      ? []
      : await expressions.evaluate({ environment: environmentOf(module, 'trigger'), items, together });
  const matched: { readonly version: Version; readonly traced: readonly TracedExpression[] }[] = [];
  const failed: { readonly version: Version; readonly message: string }[] = [];
  let next = 0;
  for (const { version, triggers, conditions } of candidates) {
    const first = next;
    const ofTriggers = results.slice(next, (next += triggers.length));
    const ofConditions = results.slice(next, (next += conditions.length));
    const verdict = both(triggers.length === 0 ? 'matches' : anyOf(ofTriggers), allOf(ofConditions));
    if (verdict === 'matches')
      matched.push({ version, traced: tracedExpressions(items.slice(first, next), results.slice(first, next)) });
    else if (verdict !== 'differs') failed.push({ version, ...verdict });
  }
  return { matched, failed, cost: results.reduce((sum, { cost }) => sum + cost, 0) };
}

function verdictOf(result: ExpressionResult): Verdict {
  if ('error' in result) return { message: result.error.message };
  return result.value === true ? 'matches' : 'differs';
}

function anyOf(results: readonly ExpressionResult[]): Verdict {
  const verdicts = results.map(verdictOf);
  if (verdicts.includes('matches')) return 'matches';
  return verdicts.find((verdict) => typeof verdict === 'object') ?? 'differs';
}

function allOf(results: readonly ExpressionResult[]): Verdict {
  return results.map(verdictOf).reduce(both, 'matches');
}

/** One that differs decides, also beside one that has failed. */
function both(one: Verdict, other: Verdict): Verdict {
  if (one === 'differs' || other === 'differs') return 'differs';
  return one === 'matches' ? other : one;
}
