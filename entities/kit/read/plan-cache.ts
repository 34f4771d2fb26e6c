import { LRUCache } from 'lru-cache';
import type { Caller } from '../model/caller.ts';
import type { Registry } from '../model/registry.ts';
import type { Statement } from '../storage/sql.ts';
import { Placeholder } from './placeholder.ts';
import { Viewer, type CallerAnswer, type CallerParameter, type CallerQuestion } from './viewer.ts';

/** A compiled statement with the source of each of its bound values. */
interface Plan {
  readonly text: string;
  readonly sources: readonly Source[];
}

type Source =
  | { readonly from: 'plan'; readonly value: unknown }
  | { readonly from: 'query'; readonly index: number }
  | { readonly from: 'caller'; readonly parameter: CallerParameter };

/** A placeholder in a compiled statement for a value of the caller. */
class CallerPlaceholder {
  readonly parameter: CallerParameter;

  constructor(parameter: CallerParameter) {
    this.parameter = parameter;
  }
}

/**
 * The plans of one query as a decision tree: each inner node has the question that the compilation asked about the caller at this
 * point. Compiling is deterministic, so callers with the same answers so far get the same next question.
 */
type Branch = { readonly question: CallerQuestion; readonly next: Map<CallerAnswer, Branch> } | Plan;

interface QueryPlans {
  readonly root: Branch;
  /** Number of plans in the tree of `root`. */
  readonly count: number;
  /** Number of questions on the ways to these plans. */
  readonly questions: number;
  /** Memory of the tree. */
  readonly bytes: number;
}

/** Maximum memory of the cache, in bytes as it counts them. */
const maxCacheBytes = 20_000_000;

/** Memory of an inner node with its map, and of a source. SQL text is ASCII, so a character is one byte. */
const questionBytes = 300;
const sourceBytes = 50;

/** Maximum length of the text of a cached plan, in characters: longer queries are rarely repeated. */
const maxTextLength = 50_000;

/** Maximum number of plans of one query; beyond it all of them are dropped, and compiled again when needed. */
const maxPlansOfQuery = 200;

/** Compiled statements, by query and by the answers of callers that decide the text. */
export class PlanCache {
  readonly #registry: Registry;
  readonly #queries: LRUCache<string, QueryPlans>;
  readonly #areWorkflowsEnabled: CallerQuestion;
  #compilations = 0;

  /** @param areWorkflowsEnabled `workflows.enabled`, asked for each statement that depends on it */
  constructor(registry: Registry, areWorkflowsEnabled = () => true, maxBytes = maxCacheBytes) {
    this.#registry = registry;
    this.#areWorkflowsEnabled = () => areWorkflowsEnabled();
    this.#queries = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ bytes }, key) => key.length + bytes });
  }

  get compilations(): number {
    return this.#compilations;
  }

  /** Current contents of the cache: statements, the questions that lead to them, and the memory of both in bytes. */
  get contents(): { readonly plans: number; readonly questions: number; readonly bytes: number } {
    const queries = [...this.#queries.values()];
    return {
      plans: queries.reduce((sum, { count }) => sum + count, 0),
      questions: queries.reduce((sum, { questions }) => sum + questions, 0),
      bytes: this.#queries.calculatedSize,
    };
  }

  /**
   * The statement of a query, compiled once for all callers with the same answers.
   * @param key the part of the query that decides the text
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
    const asked = new Map<CallerQuestion, CallerAnswer>();
    const viewer = new Viewer(
      this.#registry,
      (question) => {
        if (!asked.has(question)) asked.set(question, question(caller));
        return asked.get(question);
      },
      (parameter) => new CallerPlaceholder(parameter),
      this.#areWorkflowsEnabled,
    );
    const { text, values } = compile(viewer);
    this.#compilations++;
    const plan: Plan = { text, sources: values.map(sourceOf) };
    if (text.length > maxTextLength) return plan;
    const known = this.#queries.peek(key);
    const kept = known && known.count < maxPlansOfQuery ? known : undefined;
    let branch: Branch = plan;
    for (const [question, answer] of [...asked].toReversed()) branch = { question, next: new Map([[answer, branch]]) };
    const bytes = text.length + asked.size * questionBytes + plan.sources.length * sourceBytes;
    // A new object: the cache measures the size of an entry only when its value is another one.
    this.#queries.set(key, {
      root: kept ? mergeBranch(kept.root, branch) : branch,
      count: (kept?.count ?? 0) + 1,
      questions: (kept?.questions ?? 0) + asked.size,
      bytes: (kept?.bytes ?? 0) + bytes,
    });
    return plan;
  }
}

/** Follows the caller's answers to a plan; undefined when no plan was compiled for these answers. */
function findPlan(root: Branch | undefined, caller: Caller): Plan | undefined {
  let branch = root;
  while (branch && 'question' in branch) branch = branch.next.get(branch.question(caller));
  return branch;
}

/** Adds the single path of `added` to the tree `known`. Both have the same questions up to the point where the answers differ. */
function mergeBranch(known: Branch, added: Branch): Branch {
  if (!('question' in known) || !('question' in added)) return added;
  for (const [answer, branch] of added.next) {
    const below = known.next.get(answer);
    known.next.set(answer, below ? mergeBranch(below, branch) : branch);
  }
  return known;
}

function sourceOf(value: unknown): Source {
  if (value instanceof Placeholder) return { from: 'query', index: value.index };
  if (value instanceof CallerPlaceholder) return { from: 'caller', parameter: value.parameter };
  return { from: 'plan', value };
}
