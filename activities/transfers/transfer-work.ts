import type { ActivityDependencies } from '../kit/activity-dependencies.ts';
import { currentOrigin, workContext } from '../clients/temporal/work-origin.ts';
import { readLaterCaller } from '#entities/kit/access/later-caller.ts';
import { AppError, isAppError, isRefusal, type FieldProblem } from '#entities/kit/base/errors.ts';
import { systemCaller, type Caller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { isWithinLimits, scopeFor } from '#entities/kit/model/scopes.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { export as exportKind, import as importKind } from '#entities/index.ts';

export type TransferDependencies = Pick<
  ActivityDependencies,
  'config' | 'database' | 'contextOfCallers' | 'fileReceiver' | 'logger' | 'storage'
>;

/** A record of work, and the run that does it. */
export interface Transfer {
  readonly id: string;
  readonly runId: string;
}

type TransferKind = typeof exportKind | typeof importKind;

/** Records of either kind, as far as both have the same fields. */
type TransferRow = Pick<
  RowOf<typeof exportKind>,
  'id' | 'organizationId' | 'status' | 'requestorId' | 'tokenId' | 'runId' | 'recordVersion' | 'recordKind'
>;

/** Text for the person about an error whose message is for operators. */
function couldNot(): string {
  const { requestId } = currentOrigin() ?? {};
  const named = requestId === undefined ? '' : `, and say the id of the request: ${requestId}`;
  return `The server could not do the work. Start it again later; if it fails again, ask those who operate the server${named}.`;
}

const maxMessageLength = 20_000;

/** Least time between two updates of the progress, in milliseconds: each is a version of the record. */
const progressEveryMs = 2_000;

/** Services that exports and imports share: whose rights they have, and what their records say about them. */
export class TransferWork<Kind extends TransferKind> {
  readonly dependencies: TransferDependencies;
  readonly kind: Kind;
  readonly #reported = new Map<string, number>();

  constructor(dependencies: TransferDependencies, kind: Kind) {
    this.dependencies = dependencies;
    this.kind = kind;
  }

  /** A transaction of the server itself. */
  transact<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    return this.dependencies.database.transact(workContext(systemCaller('transfers'), 'transfers'), work);
  }

  /** Claims the work for a run. @returns false for work that was cancelled or deleted, or that another run does */
  begin({ id, runId }: Transfer): Promise<boolean> {
    return this.transact(async (unit) => {
      const row = await this.#locked(unit, id);
      if (row?.status === 'running') return row.runId === runId;
      if (row?.status !== 'pending') return false;
      await this.#change(unit, id, {
        status: 'running',
        runId,
        doneRows: 0,
        totalRows: null,
        errorCode: null,
        errorMessage: null,
        finishedAt: null,
      });
      return true;
    });
  }

  /** The record while the run does its work; undefined when the work is to stop. */
  async running(unit: UnitOfWork, { id, runId }: Transfer): Promise<RowOf<Kind> | undefined> {
    const row = (await unit.data.findOne(this.kind, { id: { eq: id } })) as TransferRow | undefined;
    return row?.status === 'running' && row.runId === runId ? (row as RowOf<Kind>) : undefined;
  }

  /** The person or API token that started the work, with the current rights. @throws AppError permission_denied */
  async caller(unit: UnitOfWork, { requestorId, tokenId, organizationId }: TransferRow): Promise<Caller> {
    const context = await this.dependencies.contextOfCallers();
    const { enabled, keys } = this.dependencies.config.current.auth.token.apitokens;
    const acceptsKey = (id: string) => enabled && Object.hasOwn(keys, id) && keys[id]?.status !== 'revoked';
    const caller = await readLaterCaller(unit, { userId: requestorId, tokenId, organizationId }, context, acceptsKey);
    const asked = { kind: this.kind.kind, operation: 'create' } as const;
    if (isWithinLimits(caller, asked)) return caller;
    const lost = `The token with which this work was started does not have the scope ${scopeFor(asked)} any more.`;
    throw new AppError('permission_denied', lost);
  }

  /** Reports the progress of the work, at most every two seconds. @returns whether the work continues */
  async report(
    transfer: Transfer,
    progress: { readonly doneRows?: number; readonly totalRows?: number },
  ): Promise<boolean> {
    const { id, runId } = transfer;
    const now = performance.now();
    if (now - (this.#reported.get(runId) ?? -progressEveryMs) < progressEveryMs) return true;
    this.#reported.set(runId, now);
    const goesOn = await this.transact(async (unit) => {
      const row = await this.#locked(unit, id);
      if (row?.status !== 'running' || row.runId !== runId) return false;
      await this.#change(unit, id, progress);
      return true;
    });
    if (!goesOn) this.#reported.delete(runId);
    return goesOn;
  }

  /**
   * Ends the work well, in the transaction that has its result.
   * @param unit of the person or of the server
   * @returns false when the work was cancelled meanwhile; the transaction must be rolled back then
   */
  async complete(
    unit: UnitOfWork,
    { id, runId }: Transfer,
    rows: number,
    values: Readonly<Record<string, unknown>> = {},
  ): Promise<boolean> {
    const data = unit.data.privileged('complete transfer');
    const row = (await data.findLocked(this.kind, id)) as TransferRow | undefined;
    if (row?.status !== 'running' || row.runId !== runId) return false;
    const finishedAt = unit.clock.now();
    const done = { status: 'completed', doneRows: rows, totalRows: rows, finishedAt, ...values };
    await data.update(this.kind, id, done as never);
    unit.emit(customEvent(this.kind as typeof importKind, 'completed', row, { rows }));
    this.#reported.delete(runId);
    return true;
  }

  /** Runs a part of the work. Work that is refused has failed, and is not tried again. @returns whether the work continues */
  async part(transfer: Transfer, work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await work();
    } catch (error) {
      // Problems of single values do not go away, whatever the category of the error is.
      if (!isAppError(error) || !(isRefusal(error) || error.details.fields)) throw error;
      await this.fail(transfer, error);
      return false;
    }
  }

  /** @param error undefined when its message is for operators */
  async fail(transfer: Transfer, error?: AppError): Promise<void> {
    const { id } = transfer;
    await this.transact(async (unit) => {
      // Locked, so that work that is cancelled or started again meanwhile stays so.
      const row = await this.#locked(unit, id);
      if (row?.status !== 'running' || row.runId !== transfer.runId) return;
      const code = error?.code ?? 'internal';
      const problems = error?.details.fields ?? [];
      await this.#change(unit, id, {
        status: 'failed',
        errorCode: code,
        errorMessage: this.failureMessage(error?.message ?? couldNot())
          .slice(0, maxMessageLength)
          .toWellFormed(),
        finishedAt: unit.clock.now(),
        ...this.failureValues(problems),
      });
      unit.emit(customEvent(this.kind as typeof importKind, 'failed', row, { code }));
    });
    this.#reported.delete(transfer.runId);
  }

  /** Text for the person about work that has failed. */
  protected failureMessage(message: string): string {
    return message;
  }

  /** Further values of a record whose work has failed. */
  protected failureValues(_problems: readonly FieldProblem[]): Readonly<Record<string, unknown>> {
    return {};
  }

  async #locked(unit: UnitOfWork, id: string): Promise<TransferRow | undefined> {
    return unit.data.findLocked(this.kind, id);
  }

  async #change(unit: UnitOfWork, id: string, values: Readonly<Record<string, unknown>>): Promise<void> {
    await unit.data.update(this.kind, id, values as never);
  }
}
