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
import { withTimeout } from '#entities/kit/base/concurrency/with-timeout.ts';
import { objectName, type Tuple, type TupleCondition } from '#entities/kit/model/tuples.ts';

type Settings = Pick<
  Config['authz'],
  'enableparentcontext' | 'parentcontextskipkinds' | 'parentcontextconditions' | 'modelid'
>;

/** Effect of the organization of a caller for records of a kind. */
export type ContextOfCallers = Pick<Caller, 'outOfContext' | 'contextConditions'>;

interface ParentContextOptions {
  readonly registry: Registry;
  /** Undefined while `authz.enabled` is off: then no condition is known to hold. */
  readonly store: Pick<AuthorizationStore, 'counts'> | undefined;
  readonly settings: () => Settings;
  readonly logger: Logger;
}

/** Longest time a request waits for the store to say whether conditions hold, in milliseconds. */
const timeoutMs = 500;

/** Time in which a store that did not answer is not asked again, in milliseconds. */
const pauseMs = 1_000;

/**
 * Decides for which kinds the role and scopes that a caller has in the organization apply to its records (`authz.enableparentcontext`,
 * `parentcontextskipkinds`, `parentcontextconditions`). For the other kinds only rights given on the record apply.
 *
 * SQL cannot evaluate a condition of the authorization store. The parameters of a condition come from the configuration
 * alone, so the store is asked once per condition. While the answer is unknown or negative, the kind is out of context, in
 * WHERE clauses and in checks of the store alike.
 */
export class ParentContexts {
  readonly #options: ParentContextOptions;
  /** Whether conditions hold, by the probe as JSON. */
  readonly #answers = new Map<string, boolean>();
  #asking: Promise<void> | undefined;
  #askAgainAt = 0;
  /** The last result for which the store had answered everything. */
  #last: { readonly settings: Settings; readonly context: ContextOfCallers } | undefined;

  constructor(options: ParentContextOptions) {
    this.#options = options;
  }

  /** By the current settings. Asks the store about conditions that are not known yet, and waits at most `timeoutMs`. */
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
    await withTimeout(this.#asking, timeoutMs, () => undefined);
  }

  async #ask(store: Pick<AuthorizationStore, 'counts'>, unknown: readonly Probe[]): Promise<void> {
    const { logger } = this.#options;
    const answers = await Promise.allSettled(
      unknown.map(async (probe) => {
        const { isAllowed, refusal } = await store.counts(probe);
        if (refusal)
          logger.error(
            { condition: probe.condition.name, reason: refusal },
            'the store cannot evaluate a condition of authz.parentcontextconditions; it is treated as not fulfilled',
          );
        this.#answers.set(JSON.stringify(probe), isAllowed);
      }),
    );
    if (answers.every(({ status }) => status === 'fulfilled')) return;
    this.#askAgainAt = performance.now() + pauseMs;
    logger.warn(
      'the store does not answer: the conditions of authz.parentcontextconditions are treated as not fulfilled meanwhile',
    );
  }
}

/** The tuple that the store is asked about to learn whether the condition of a kind holds; no such record exists. */
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
 * Checks that every condition belongs to a kind with rights by record and is declared for it in the model. With
 * `authz.modelid` the model is not known here, so the store alone checks the declaration.
 * @throws ConfigurationError
 */
export function requireUsableConditions(registry: Registry, settings: Settings, model: WrittenModel): void {
  const problems = settings.parentcontextconditions.flatMap(({ kind, name }, index) => {
    const path = `authz.parentcontextconditions[${index}]`;
    const module = registry.modules.find((each) => hasObjectRights(each.policy) && names([kind], each));
    if (!module) {
      const kinds = registry.modules.filter(({ policy }) => hasObjectRights(policy)).map((each) => each.kind);
      const reason = `${kind} is not a kind with rights by record`;
      return [{ where: 'the configuration', path, reason, remedy: `use one of ${kinds.join(', ')}` }];
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
