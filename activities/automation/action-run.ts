import { laterCaller } from '#entities/automation/approvals/caller-of-submitter.ts';
import type { ApprovalWork, LockedInstance } from '#entities/automation/approvals/approval-work.ts';
import { askedStatesOf, passedDeadlines } from '#entities/automation/approvals/asked-state.ts';
import { askingActionsOf } from '#entities/automation/approvals/asking-action.ts';
import { assignmentsOf } from '#entities/automation/approvals/assignments.ts';
import { outcomeOf } from '#entities/automation/outcome.ts';
import {
  isExpression,
  type Action,
  type DefinitionDocument,
  type Value,
} from '#entities/automation/document/definition-document.ts';
import { environmentOf } from '#entities/automation/document/expression-environment.ts';
import { valuesOf, type ChangeFacts } from '#entities/automation/document/expression-values.ts';
import type { ExpressionType } from '#entities/automation/document/expressions.ts';
import { tracedExpressions, type TracedExpression } from '#entities/automation/document/traced-expressions.ts';
import type { workflowVersion } from '#entities/automation/workflow-version.ts';
import { AppError, isAppError } from '#entities/kit/base/errors.ts';
import type { Caller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { changeOfInstance } from './change-of-instance.ts';
import { callerSettings, type AutomationDependencies } from './instance-work.ts';

/** A value of a document, and the type that it must have if it is an expression. */
interface Wanted {
  readonly value: Value;
  readonly expected?: ExpressionType;
}

/** One action of an instance while it runs: its parameters with the values of their expressions, and who runs it. */
export class ActionRun {
  readonly work: ApprovalWork;
  readonly locked: LockedInstance;
  readonly action: Action;
  readonly #dependencies: AutomationDependencies;
  readonly #version: RowOf<typeof workflowVersion>;
  readonly #traced: TracedExpression[] = [];

  constructor(
    dependencies: AutomationDependencies,
    work: ApprovalWork,
    locked: LockedInstance,
    version: RowOf<typeof workflowVersion>,
    action: Action,
  ) {
    this.#dependencies = dependencies;
    this.work = work;
    this.locked = locked;
    this.#version = version;
    this.action = action;
  }

  /** To be called after the commit of due work. */
  get wakeRelays(): () => void {
    return this.#dependencies.wakeRelays;
  }

  /** Its expressions so far, with the values of their parts. */
  get traced(): readonly TracedExpression[] {
    return this.#traced;
  }

  /** Whether its condition (`when`) is true. */
  async isWanted(): Promise<boolean> {
    const { when } = this.action;
    if (when === undefined) return true;
    const [isWanted] = await this.#evaluate([{ value: { expr: when }, expected: 'bool' }]);
    return isWanted === true;
  }

  /** Whether its condition is true or cannot be evaluated. A gate holds such changes, so the approval is needed. */
  async isNeeded(): Promise<boolean> {
    try {
      return await this.isWanted();
    } catch (error) {
      if (isAppError(error) && error.code === 'rule_violated') return true;
      throw error;
    }
  }

  /**
   * Values, in their order: those of expressions as the evaluator gives them. They leave the record, so the publisher must be able to view it.
   * @throws AppError rule_violated when one fails; permission_denied
   */
  async resolve(wanted: readonly Wanted[]): Promise<unknown[]> {
    if (!wanted.some(({ value }) => isExpression(value))) return wanted.map(({ value }) => value);
    await this.#requireView();
    return this.#evaluate(wanted);
  }

  async #evaluate(wanted: readonly Wanted[]): Promise<unknown[]> {
    const expressions = wanted.filter(({ value }) => isExpression(value));
    const variables = await this.#variables();
    const items = expressions.map(({ value, expected }) => ({
      expression: (value as { readonly expr: string }).expr,
      variables,
      ...(expected === undefined ? {} : { expected }),
    }));
    const environment = environmentOf(this.locked.module, 'action');
    const results = await this.#dependencies.expressions.evaluate({ environment, items });
    this.#traced.push(...tracedExpressions(items, results));
    const byValue = new Map(
      expressions.map(({ value }, index) => {
        const result = results[index];
        if (!result || 'error' in result) throw failedExpression(value, result?.error.message ?? 'it has no value');
        return [value, result.value];
      }),
    );
    return wanted.map(({ value }) => (byValue.has(value) ? byValue.get(value) : value));
  }

  /** Records with the rights that the person who published the version has now. @throws AppError permission_denied without any */
  async asPublisher(): Promise<DataClient> {
    return this.work.data.as(await this.#publisher());
  }

  /** @throws AppError permission_denied when the person who published the version may not view the record, or its last values once it is deleted */
  async #requireView(): Promise<void> {
    const { module, record, instance } = this.locked;
    const data = await this.asPublisher();
    const isViewed = record
      ? (await data.findOne(module, { id: { eq: instance.subjectId } })) !== undefined
      : (await data.decide(module, 'view', { ...(await changeOfInstance(this.work.unit, this.locked)).object }))
          .isAllowed;
    if (isViewed) return;
    const message = `Version ${this.#version.number} was published by somebody who may not view this ${module.typeName}, so its actions get no values of it. Let somebody publish the definition who may view it, or have the action skipped.`;
    throw new AppError('permission_denied', message);
  }

  async #publisher(): Promise<Caller> {
    const { publisherId: userId, organizationId, number } = this.#version;
    try {
      return await laterCaller(
        this.work.unit,
        { userId, organizationId, tokenId: null },
        callerSettings(this.#dependencies),
      );
    } catch (error) {
      if (!isAppError(error) || error.code !== 'permission_denied') throw error;
      const message = `Version ${number} was published by somebody who has no access to the organization any more, so its actions have no rights. Give them access, or have the action skipped.`;
      throw new AppError('permission_denied', message, { cause: error });
    }
  }

  async #variables(): Promise<Record<string, unknown>> {
    const { instance, module } = this.locked;
    const { id: instanceId, status, actionIndex, definitionId, subjectId: objectId, initiatorId } = instance;
    const assignments = await assignmentsOf(this.work, this.locked);
    const change: ChangeFacts = await changeOfInstance(this.work.unit, this.locked);
    const { key: actionKey } = this.action;
    const asking = askingActionsOf(
      this.#version.document as DefinitionDocument,
      assignments.map((one) => one.actionKey),
    );
    const passed = passedDeadlines(asking, askedStatesOf(instance), this.work.unit.clock.now());
    const { actions } = outcomeOf(asking, assignments, passed);
    return valuesOf(module, change, {
      instanceId,
      status,
      actionIndex,
      definitionId,
      objectId,
      actionKey,
      initiatorId,
      assignments,
      outcomes: new Map(actions.map(({ key, outcome }) => [key, outcome])),
    });
  }
}

function failedExpression(value: Value, reason: string): AppError {
  const { expr } = value as { readonly expr: string };
  return new AppError('rule_violated', `The expression ${JSON.stringify(expr.slice(0, 200))} has failed: ${reason}`);
}
