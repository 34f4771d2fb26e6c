import type { Logger } from 'pino';
import type { AuthorizationStore } from '#activities/clients/fga/authorization-store.ts';
import type { WrittenModel } from '#activities/clients/fga/written-model.ts';
import { ConfigurationError } from '#config/schema/config-problem.ts';
import type { Config } from '#config/objects/root.ts';
import { parentContext } from '#entities/kit/model/authorization-model.ts';
import type { Caller } from '#entities/kit/model/caller.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { hasObjectRights } from '#entities/kit/model/policy.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { objectName, type Tuple, type TupleCondition } from '#entities/kit/model/tuples.ts';

type Settings = Pick<
  Config['authz'],
  'enableparentcontext' | 'parentcontextskipkinds' | 'parentcontextconditions' | 'modelid'
>;

/** How the organization of a caller counts for records of a kind. */
export type ContextOfCallers = Pick<Caller, 'outOfContext' | 'contextConditions'>;

export interface ParentContextOptions {
  readonly registry: Registry;
  /** Undefined while `authz.enabled` is off: then no condition is known to hold. */
  readonly store: Pick<AuthorizationStore, 'counts'> | undefined;
  readonly settings: () => Settings;
  readonly logger: Logger;
}

/** Longest a request waits for the store to say whether conditions hold, in milliseconds. */
const patienceMs = 500;

/** Time after a question that got no answer in which none is asked, in milliseconds. */
const pauseMs = 1_000;

/**
 * For which kinds records are tied to the organization of a caller when a right is decided (`authz.enableparentcontext`,
 * `parentcontextskipkinds`, `parentcontextconditions`). For the others roles and scopes say nothing, only what was given on
 * the records does.
 *
 * WHERE clauses cannot evaluate the conditions of the store. Their parameters come from the configuration alone, so whether
 * one holds is asked once; as long as that is not known, or when it does not hold, the kind counts as out of context, in
 * WHERE clauses and in questions to the store alike.
 */
export class ParentContexts {
  readonly #options: ParentContextOptions;
  /** Whether conditions hold, by what the store was asked. */
  readonly #answers = new Map<string, boolean>();
  #asking: Promise<void> | undefined;
  #askAgainAt = 0;
  /** What was found out last, when all of it was known. */
  #last: { readonly settings: Settings; readonly context: ContextOfCallers } | undefined;

  constructor(options: ParentContextOptions) {
    this.#options = options;
  }

  /** As of now; asks the store for what is not known yet, and waits for it for a moment. */
  async ofCallers(): Promise<ContextOfCallers> {
    const settings = this.#options.settings();
    if (this.#last?.settings === settings) return this.#last.context;
    await this.#learn(settings);
    const context = this.#contextBy(settings);
    if (this.#unknown(settings).length === 0) this.#last = { settings, context };
    return context;
  }

  #contextBy(settings: Settings): ContextOfCallers {
    const { registry } = this.#options;
    const conditioned = probes(registry, settings);
    const isIn = (module: EntityModule): boolean => {
      if (!settings.enableparentcontext || names(settings.parentcontextskipkinds, module)) return false;
      const own = conditioned.filter((each) => each.module === module);
      return own.every(({ probe }) => this.#answers.get(JSON.stringify(probe)) === true);
    };
    const objects = registry.modules.filter(({ policy }) => hasObjectRights(policy));
    return {
      outOfContext: objects.filter((module) => !isIn(module)).map(({ kind }) => kind),
      contextConditions: Object.fromEntries(
        conditioned.map(({ module, probe }): [string, TupleCondition] => [module.kind, probe.condition]),
      ),
    };
  }

  #unknown(settings: Settings): Probe[] {
    if (settings.parentcontextconditions.length === 0) return [];
    return probes(this.#options.registry, settings)
      .map(({ probe }) => probe)
      .filter((probe) => !this.#answers.has(JSON.stringify(probe)));
  }

  async #learn(settings: Settings): Promise<void> {
    const { store } = this.#options;
    const unknown = this.#unknown(settings);
    if (!store || unknown.length === 0) return;
    if (!this.#asking && performance.now() >= this.#askAgainAt)
      this.#asking = this.#ask(store, unknown).finally(() => {
        this.#asking = undefined;
      });
    if (!this.#asking) return;
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patienceMs);
    });
    await Promise.race([this.#asking, patience]);
    clearTimeout(timer);
  }

  async #ask(store: Pick<AuthorizationStore, 'counts'>, unknown: readonly Probe[]): Promise<void> {
    const { logger } = this.#options;
    const answers = await Promise.allSettled(
      unknown.map(async (probe) => {
        const { isAllowed, refusal } = await store.counts(probe);
        if (refusal)
          logger.error(
            { condition: probe.condition.name, reason: refusal },
            'the store cannot evaluate a condition of authz.parentcontextconditions; it counts as not fulfilled',
          );
        this.#answers.set(JSON.stringify(probe), isAllowed);
      }),
    );
    if (answers.every(({ status }) => status === 'fulfilled')) return;
    this.#askAgainAt = performance.now() + pauseMs;
    logger.warn('whether conditions of authz.parentcontextconditions hold is not known: the store does not answer');
  }
}

/** What the store is asked to learn whether the condition of a kind holds; no such record exists. */
interface Probe extends Tuple {
  readonly condition: TupleCondition;
}

function probes(
  registry: Registry,
  { parentcontextconditions }: Settings,
): { readonly module: EntityModule; readonly probe: Probe }[] {
  return parentcontextconditions.flatMap(({ kind, name, context }) =>
    registry.modules
      .filter((module) => hasObjectRights(module.policy) && names([kind], module))
      .map((module) => ({
        module,
        probe: {
          object: objectName(module.kind, 'probe'),
          relation: parentContext,
          subject: objectName('organization', 'probe'),
          condition: { name, context },
        },
      })),
  );
}

function names(kinds: readonly string[], { kind, topic }: EntityModule): boolean {
  return kinds.includes(kind) || kinds.includes(topic);
}

/**
 * Conditions are for kinds whose rights are given record by record, and the model has them there. With `authz.modelid` the
 * model is not known here; the store then says what it thinks of them.
 * @throws ConfigurationError
 */
export function requireUsableConditions(registry: Registry, settings: Settings, model: WrittenModel): void {
  const problems = settings.parentcontextconditions.flatMap(({ kind, name }, place) => {
    const path = `authz.parentcontextconditions[${place}]`;
    const module = registry.modules.find((each) => hasObjectRights(each.policy) && names([kind], each));
    if (!module) {
      const kinds = registry.modules.filter(({ policy }) => hasObjectRights(policy)).map((each) => each.kind);
      const reason = `${kind} is no kind whose rights are given record by record`;
      return [{ where: 'the configuration', path, reason, remedy: `there are ${kinds.join(', ')}` }];
    }
    const type = model.type_definitions.find((each) => each.type === module.topic);
    const subjects = type?.metadata?.relations?.[parentContext]?.directly_related_user_types ?? [];
    if (settings.modelid !== '' || subjects.some(({ condition }) => condition === name)) return [];
    const reason = `the model has no organization with ${name} as ${parentContext} of ${module.topic}`;
    const remedy = 'add the condition and the variant to the file of authz.modelfile or authz.modulefile';
    return [{ where: 'the configuration', path, reason, remedy }];
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
}
