import { defineActivities, type ActivityDependencies } from '../kit/activity-dependencies.ts';
import { isOwnTuple } from '#entities/kit/model/authorization-model.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { newId } from '#entities/kit/base/ids.ts';
import {
  applyAgain,
  tombstone,
  repairMissing,
  repairOrphaned,
  settledPage,
  unexpectedAmong,
} from '#entities/kit/outbox/tuple-repair.ts';
import { tupleKey, type Tuple } from '#entities/kit/model/tuples.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type {
  Disagreement,
  ReconciliationCursor,
  ReconciliationReport,
} from '#workflows/maintenance/reconcile-authorization.contract.ts';

/** Rows, or desired tuples, that are compared in one transaction. */
const defaultPageSize = 500;

interface AuthorizationDependencies extends Pick<ActivityDependencies, 'database' | 'store' | 'applyTuples'> {
  readonly pageSize?: number;
}

export interface ReconciledPage {
  readonly checked: { readonly what: keyof ReconciliationReport['checked']; readonly count: number };
  readonly repaired: ReconciliationReport['repaired'];
  /** Null after the last page. */
  readonly next: ReconciliationCursor | null;
}

/** Checks of single tuples that run against the store at the same time. */
const maxConcurrent = 10;

export type AuthorizationActivities = ReturnType<typeof createAuthorizationActivities>;

/** Reconciles rows, desired tuples and the authorization store. All repairs go through desired tuples and the relay. */
export const createAuthorizationActivities = defineActivities((deps: AuthorizationDependencies) => {
  const { database, store, applyTuples, pageSize: most = defaultPageSize } = deps;
  const { registry } = database.options;
  const granters = registry.modules.filter(({ grants }) => grants && grants.length > 0);

  function transact<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    return database.transact(
      { caller: systemCaller('reconcile authorization'), requestId: `reconcile-${newId()}` },
      work,
    );
  }

  async function rowsPage(module: EntityModule, after: string): Promise<ReconciledPage> {
    const { checked, repaired, last } = await transact((unit) => repairMissing(unit, module, { after, limit: most }));
    const following = granters[granters.indexOf(module) + 1];
    const next: ReconciliationCursor =
      last !== null
        ? { step: 'rows', kind: module.kind, after: last }
        : following
          ? { step: 'rows', kind: following.kind, after: '' }
          : { step: 'desired', after: null };
    return { checked: { what: 'rows', count: checked }, repaired: repairsOf(repaired, 'notDesired'), next };
  }

  async function desiredPage(after: Tuple | null): Promise<ReconciledPage> {
    const { checked, repaired, last } = await transact((unit) => repairOrphaned(unit, { after, limit: most }));
    const end: ReconciliationCursor | null = store ? { step: 'settled', after: null } : null;
    return {
      checked: { what: 'desired', count: checked },
      repaired: repairsOf(repaired, 'orphaned'),
      next: last === null ? end : { step: 'desired', after: withoutVersion(last) },
    };
  }

  async function missingInStore(tuples: readonly Tuple[]): Promise<Set<string>> {
    const missing = new Set<string>();
    for (let start = 0; start < tuples.length; start += maxConcurrent)
      await Promise.all(
        tuples.slice(start, start + maxConcurrent).map(async (tuple) => {
          if (!(await store?.find(tuple))) missing.add(tupleKey(tuple));
        }),
      );
    return missing;
  }

  async function settledTuplesPage(after: Tuple | null): Promise<ReconciledPage> {
    // Repairs of earlier steps have to be in the store before it is compared.
    if (after === null) await applyTuples();
    const { rows, last } = await transact((unit) => settledPage(unit, { after, limit: most }));
    const missing = await missingInStore(rows);
    const lost = rows.filter((tuple) => missing.has(tupleKey(tuple)));
    const repaired = await transact((unit) => applyAgain(unit, lost));
    return {
      checked: { what: 'desired', count: 0 },
      repaired: repairsOf(repaired, 'notStored'),
      next: last === null ? { step: 'store', after: null } : { step: 'settled', after: withoutVersion(last) },
    };
  }

  async function storePage(after: string | null): Promise<ReconciledPage> {
    const page = await store?.tuplePage(after ?? undefined);
    const tuples = page?.tuples ?? [];
    // Types and relations that a custom model adds are written by others.
    const own = tuples.filter((tuple) => isOwnTuple(registry, tuple));
    const unexpected = await transact((unit) => unexpectedAmong(unit, own));
    // A tuple that was being deleted while the page was read is gone by now.
    const gone = await missingInStore([...unexpected.removed, ...unexpected.unknown]);
    const isStill = (tuple: Tuple) => !gone.has(tupleKey(tuple));
    const repaired = await transact(async (unit) => [
      ...(await applyAgain(unit, unexpected.removed.filter(isStill))),
      ...(await tombstone(unit, unexpected.unknown.filter(isStill))),
    ]);
    const next = page?.next;
    return {
      checked: { what: 'stored', count: tuples.length },
      repaired: repairsOf(repaired, 'onlyStored'),
      next: next === undefined ? null : { step: 'store', after: next },
    };
  }

  return {
    /** Compares and repairs the page at a cursor; without one the first page. */
    async reconcilePage({ cursor }: { readonly cursor?: ReconciliationCursor }): Promise<ReconciledPage> {
      const at = cursor ?? { step: 'rows', kind: granters[0]?.kind ?? '', after: '' };
      switch (at.step) {
        case 'rows':
          return rowsPage(registry.byKind(at.kind), at.after);
        case 'desired':
          return desiredPage(at.after);
        case 'settled':
          return settledTuplesPage(at.after);
        case 'store':
          return storePage(at.after);
        default:
          at satisfies never;
          throw new Error(`unknown cursor ${JSON.stringify(at)}`);
      }
    },

    async applyRepairs(): Promise<number> {
      return applyTuples();
    },
  };
});

function repairsOf(tuples: readonly Tuple[], was: Disagreement): ReconciledPage['repaired'] {
  return tuples.map(({ object, relation, subject }) => ({ tuple: `${object} ${relation} ${subject}`, was }));
}

function withoutVersion({ object, relation, subject }: Tuple): Tuple {
  return { object, relation, subject };
}
