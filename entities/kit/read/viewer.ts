import { sql } from 'kysely';
import { callerKinds, type Caller, type CallerKind, type Role } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import { isConfined } from '../model/confinement.ts';
import { isModuleEnabled } from '../model/module-gate.ts';
import { isWithinLimits } from '../model/scopes.ts';
import { decideByCaller, type Asked, type Condition } from '../model/policy.ts';
import type { Granter, ReferenceIndex } from '../model/reference-index.ts';
import type { Registry } from '../model/registry.ts';
import type { Sql } from '../storage/sql.ts';

/** Values of a caller that statements bind. They do not decide the text of a statement. */
export type CallerParameter = 'subjectId' | 'organizationId' | 'groupIds' | 'sessionId';

/** A question about the caller whose answer decides the text of a statement. */
export type CallerQuestion = (caller: Caller) => CallerAnswer;
export type CallerAnswer = boolean | string | null | undefined;

const hasSubject: CallerQuestion = ({ subjectId }) => subjectId !== null;
const hasOrganization: CallerQuestion = ({ organizationId }) => organizationId !== null;
const hasSession: CallerQuestion = ({ sessionId }) => sessionId !== null;
const hasGroups: CallerQuestion = ({ groupIds }) => groupIds.length > 0;
const kindOf: CallerQuestion = ({ kind }) => kind;
const roleOf: CallerQuestion = ({ role }) => role;
const isLimited: CallerQuestion = ({ kind, limits }) => limits !== null || callerKinds[kind].needsLimits;
const isConfinedCaller: CallerQuestion = (caller) => isConfined(caller);

/**
 * The question about a condition, kind and operation. It is the same function each time, so that a compilation asks it once and
 * all plans share it.
 */
function decisionOn(condition: Condition, asked: Asked): CallerQuestion {
  const key = `${asked.operation} ${asked.kind}`;
  const known = decisions.get(condition) ?? new Map<string, CallerQuestion>();
  const question: CallerQuestion = known.get(key) ?? ((caller) => decideByCaller(condition, caller, asked));
  decisions.set(condition, known.set(key, question));
  return question;
}

/** The question whether the caller's credential allows an operation; the same function each time. */
function limitOn(asked: Asked): CallerQuestion {
  const key = `${asked.operation} ${asked.kind}`;
  const question: CallerQuestion = limits.get(key) ?? ((caller) => isWithinLimits(caller, asked));
  limits.set(key, question);
  return question;
}

/** The question whether the caller's organization has a product module of the kind; the same function each time. */
function enablementOf(module: EntityModule): CallerQuestion {
  const question: CallerQuestion = enablements.get(module) ?? ((caller) => isModuleEnabled(module, caller));
  enablements.set(module, question);
  return question;
}

const decisions = new WeakMap<Condition, Map<string, CallerQuestion>>();
const limits = new Map<string, CallerQuestion>();
const enablements = new WeakMap<EntityModule, CallerQuestion>();

/**
 * The caller as the compiler of statements sees it: answers to the questions that decide the text of a statement, and parameters
 * for the values that it binds. The caller's lists (scopes, product modules) are not accessible here, so a compiled statement is
 * valid for every caller with the same answers (plan-cache.ts).
 */
export class Viewer {
  readonly #references: ReferenceIndex;
  readonly #answer: (question: CallerQuestion) => CallerAnswer;
  readonly #bind: (parameter: CallerParameter) => unknown;
  readonly #areWorkflowsEnabled: CallerQuestion;

  constructor(
    { references }: Pick<Registry, 'references'>,
    answer: (question: CallerQuestion) => CallerAnswer,
    bind: (parameter: CallerParameter) => unknown,
    areWorkflowsEnabled: CallerQuestion = () => true,
  ) {
    this.#references = references;
    this.#answer = answer;
    this.#bind = bind;
    this.#areWorkflowsEnabled = areWorkflowsEnabled;
  }

  /** For a statement that is compiled for one caller, with their values bound. */
  static of(registry: Pick<Registry, 'references'>, caller: Caller): Viewer {
    return new Viewer(
      registry,
      (question) => question(caller),
      (parameter) => caller[parameter],
    );
  }

  get kind(): CallerKind {
    return this.#answer(kindOf) as CallerKind;
  }

  get role(): Role | null {
    return this.#answer(roleOf) as Role | null;
  }

  /** The caller's id as a bound parameter; undefined when it has none. */
  get subjectId(): Sql | undefined {
    return this.#answer(hasSubject) === true ? this.#parameter('subjectId') : undefined;
  }

  /** The id of the caller's organization as a bound parameter; undefined when it has none. */
  get organizationId(): Sql | undefined {
    return this.#answer(hasOrganization) === true ? this.#parameter('organizationId') : undefined;
  }

  /** The id of the caller's session as a bound parameter; undefined when it has none. */
  get sessionId(): Sql | undefined {
    return this.#answer(hasSession) === true ? this.#parameter('sessionId') : undefined;
  }

  /** The ids of the caller's groups as one bound array; undefined when it is in no group. */
  get groupIds(): Sql | undefined {
    return this.#answer(hasGroups) === true ? this.#parameter('groupIds') : undefined;
  }

  /** Evaluates a condition for the caller alone; undefined when the result depends on the row. */
  decide(condition: Condition, asked: Asked): boolean | undefined {
    return this.#answer(decisionOn(condition, asked)) as boolean | undefined;
  }

  /** Whether the credential of the caller allows the operation. */
  isWithinLimits(asked: Asked): boolean {
    return this.#answer(isLimited) !== true || this.#answer(limitOn(asked)) === true;
  }

  /** Whether the caller has no rights beyond an organization. To be asked only for kinds about which it decides something. */
  get isConfined(): boolean {
    return this.#answer(isConfinedCaller) === true;
  }

  /** Whether the organization has a product module of the kind. */
  isModuleEnabled(module: EntityModule): boolean {
    // The question is not asked for kinds of the base: their statements are the same for all callers.
    return module.productModules === undefined || this.#answer(enablementOf(module)) === true;
  }

  /** `workflows.enabled`, which is the same for all callers. */
  get hasWorkflows(): boolean {
    return this.#answer(this.#areWorkflowsEnabled) === true;
  }

  targetOf(module: EntityModule, field: string): EntityModule {
    return this.#references.targetOf(module, field);
  }

  kindsOf(module: EntityModule, field: string): readonly EntityModule[] {
    return this.#references.kindsOf(module, field);
  }

  filesOf(module: EntityModule): EntityModule | undefined {
    return this.#references.filesOf(module);
  }

  grantersOf(module: EntityModule): readonly Granter[] {
    return this.#references.grantersOf(module);
  }

  #parameter(parameter: CallerParameter): Sql {
    return sql`${this.#bind(parameter)}`;
  }
}
