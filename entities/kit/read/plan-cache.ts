import { LRUCache } from 'lru-cache';
import type { Caller } from '../model/caller.ts';
import type { Registry } from '../model/registry.ts';
import type { Statement } from '../storage/sql.ts';
import { Placeholder } from './placeholder.ts';
import { Viewer, type CallerAnswer, type CallerParameter, type CallerQuestion } from './viewer.ts';

/** A compiled statement, and where each of its bound values comes from. */
interface Plan {
  readonly text: string;
  readonly sources: readonly Source[];
}

type Source =
  | { readonly from: 'plan'; readonly value: unknown }
  | { readonly from: 'query'; readonly index: number }
  | { readonly from: 'caller'; readonly parameter: CallerParameter };

/** Stands in a compiled statement for a value of the caller. */
class CallerPlaceholder {
  readonly parameter: CallerParameter;

  constructor(parameter: CallerParameter) {
    this.parameter = parameter;
  }
}

/**
 * The plans of one query: each branch asks the caller the question that the compilation asked at this point. Compiling is
 * deterministic, so callers who have given the same answers so far meet the same question next.
 */
type Branch = { readonly question: CallerQuestion; readonly next: Map<CallerAnswer, Branch> } | Plan;

interface QueryPlans {
  root: Branch | undefined;
  /** Plans below `root`. */
  count: number;
}

/** Most characters of SQL text that are kept, over all plans. */
const maxCharacters = 20_000_000;

/** Longest text of a plan that is kept, in characters: one that long is rarely asked for twice. */
const maxTextLength = 50_000;

/** Most plans of one query; with more, all of them are dropped and compiled again when they are needed. */
const maxPlansOfQuery = 200;

/** Compiled statements by query and by what the caller decides about them. */
export class PlanCache {
  readonly #registry: Registry;
  readonly #queries = new LRUCache<string, QueryPlans>({
    maxSize: maxCharacters,
    sizeCalculation: ({ root, count }, key) => key.length + Math.max(1, count) * averageLength(root),
  });
  #compilations = 0;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** Statements compiled so far. */
  get compilations(): number {
    return this.#compilations;
  }

  /**
   * The statement of a query, compiled once for all callers who decide it alike.
   * @param key what of the query changes the text
   * @param values the values that the query binds, by the index of their placeholders
   * @param compile compiles the query with placeholders for its values
   */
  statement(
    key: string,
    values: readonly unknown[],
    caller: Caller,
    compile: (viewer: Viewer) => Statement,
  ): Statement {
    const plan = findPlan(this.#queries.get(key)?.root, caller) ?? this.#compile(key, caller, compile);
    return {
      text: plan.text,
      values: plan.sources.map((source) => {
        if (source.from === 'plan') return source.value;
        return source.from === 'query' ? values[source.index] : caller[source.parameter];
      }),
    };
  }

  #compile(key: string, caller: Caller, compile: (viewer: Viewer) => Statement): Plan {
    const asked: { readonly question: CallerQuestion; readonly answer: CallerAnswer }[] = [];
    const viewer = new Viewer(
      this.#registry,
      (question) => {
        const answer = question(caller);
        asked.push({ question, answer });
        return answer;
      },
      (parameter) => new CallerPlaceholder(parameter),
    );
    const { text, values } = compile(viewer);
    this.#compilations++;
    const plan: Plan = { text, sources: values.map(sourceOf) };
    if (text.length > maxTextLength) return plan;
    const known = this.#queries.peek(key);
    const plans = known && known.count < maxPlansOfQuery ? known : { root: undefined, count: 0 };
    let branch: Branch = plan;
    for (const { question, answer } of asked.toReversed()) branch = { question, next: new Map([[answer, branch]]) };
    plans.root = plans.root ? merged(plans.root, branch) : branch;
    plans.count++;
    this.#queries.set(key, plans);
    return plan;
  }
}

/** Follows the caller's answers down to the plan; undefined where nobody has given these answers before. */
function findPlan(root: Branch | undefined, caller: Caller): Plan | undefined {
  let branch = root;
  while (branch && 'question' in branch) branch = branch.next.get(branch.question(caller));
  return branch;
}

/** Adds the one path of `added` to the branches that are known: up to where the answers differ, both ask the same. */
function merged(known: Branch, added: Branch): Branch {
  if (!('question' in known) || !('question' in added)) return added;
  for (const [answer, branch] of added.next) {
    const below = known.next.get(answer);
    known.next.set(answer, below ? merged(below, branch) : branch);
  }
  return known;
}

/** Length of any one of the plans: those of one query differ little. */
function averageLength(root: Branch | undefined): number {
  let branch = root;
  while (branch && 'question' in branch) [branch] = branch.next.values();
  return branch?.text.length ?? 1;
}

function sourceOf(value: unknown): Source {
  if (value instanceof Placeholder) return { from: 'query', index: value.index };
  if (value instanceof CallerPlaceholder) return { from: 'caller', parameter: value.parameter };
  return { from: 'plan', value };
}
