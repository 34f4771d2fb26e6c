import type { AuthorizationStore } from '../clients/fga/authorization-store.ts';
import { isOwnTuple } from '#entities/kit/model/authorization-model.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Database } from '#entities/kit/unit/database.ts';
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
  ReconciliationPlace,
  ReconciliationReport,
} from '#workflows/maintenance/reconcile-authorization.contract.ts';

export interface AuthorizationDependencies {
  readonly database: Database;
  /** Undefined while `authz.enabled` is off: then rows and desired tuples are compared only. */
  readonly store: Pick<AuthorizationStore, 'find' | 'tuplePage'> | undefined;
  /** Brings the authorization store to the desired tuples; returns how many were written. */
  readonly applyTuples: () => Promise<number>;
  /** Most rows, or desired tuples, of one page. */
  readonly pageSize: number;
}

export interface ReconciledPage {
  readonly checked: { readonly what: keyof ReconciliationReport['checked']; readonly count: number };
  readonly repaired: ReconciliationReport['repaired'];
  /** Null when everything was compared. */
  readonly next: ReconciliationPlace | null;
}

/** Questions to the store about single tuples at the same time. */
const maxConcurrent = 10;

export type AuthorizationActivities = ReturnType<typeof createAuthorizationActivities>;

/** Keeps rows, desired tuples and the authorization store together. All repairs go through desired tuples and the relay. */
export function createAuthorizationActivities(deps: AuthorizationDependencies) {
  const { database, store, applyTuples, pageSize: most } = deps;
  const { registry } = database.options;
  const granters = registry.modules.filter(({ grants }) => grants && grants.length > 0);

  function transact<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    return database.transact(
      { caller: systemCaller('reconcile authorization'), requestId: `reconcile-${newId()}` },
      work,
    );
  }

  async function rowsPage(module: EntityModule, after: string): Promise<ReconciledPage> {
    const { checked, repaired, last } = await transact((unit) => repairMissing(unit, module, { after, most }));
    const following = granters[granters.indexOf(module) + 1];
    const next: ReconciliationPlace =
      last !== null
        ? { step: 'rows', kind: module.kind, after: last }
        : following
          ? { step: 'rows', kind: following.kind, after: '' }
          : { step: 'desired', after: null };
    return { checked: { what: 'rows', count: checked }, repaired: told(repaired, 'notDesired'), next };
  }

  async function desiredPage(after: Tuple | null): Promise<ReconciledPage> {
    const { checked, repaired, last } = await transact((unit) => repairOrphaned(unit, { after, most }));
    const end: ReconciliationPlace | null = store ? { step: 'settled', after: null } : null;
    return {
      checked: { what: 'desired', count: checked },
      repaired: told(repaired, 'unfounded'),
      next: last === null ? end : { step: 'desired', after: placeOf(last) },
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
    // What was repaired before is compared as it is when it has arrived.
    if (after === null) await applyTuples();
    const { rows, last } = await transact((unit) => settledPage(unit, { after, most }));
    const missing = await missingInStore(rows);
    const lost = rows.filter((tuple) => missing.has(tupleKey(tuple)));
    const repaired = await transact((unit) => applyAgain(unit, lost));
    return {
      checked: { what: 'desired', count: 0 },
      repaired: told(repaired, 'notStored'),
      next: last === null ? { step: 'store', after: null } : { step: 'settled', after: placeOf(last) },
    };
  }

  async function storePage(after: string | null): Promise<ReconciledPage> {
    const page = await store?.tuplePage(after ?? undefined);
    const tuples = page?.tuples ?? [];
    // Types and relations that a model of the installation's own adds are for others to write.
    const own = tuples.filter((tuple) => isOwnTuple(registry, tuple));
    const stray = await transact((unit) => unexpectedAmong(unit, own));
    // One that was being deleted while the page was read is gone by now.
    const gone = await missingInStore([...stray.takenBack, ...stray.unknown]);
    const isStill = (tuple: Tuple) => !gone.has(tupleKey(tuple));
    const repaired = await transact(async (unit) => [
      ...(await applyAgain(unit, stray.takenBack.filter(isStill))),
      ...(await tombstone(unit, stray.unknown.filter(isStill))),
    ]);
    const next = page?.next;
    return {
      checked: { what: 'stored', count: tuples.length },
      repaired: told(repaired, 'onlyStored'),
      next: next === undefined ? null : { step: 'store', after: next },
    };
  }

  return {
    /** Compares and repairs one page; without a place the first one. */
    async reconcilePage({ place }: { readonly place?: ReconciliationPlace }): Promise<ReconciledPage> {
      const at = place ?? { step: 'rows', kind: granters[0]?.kind ?? '', after: '' };
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
          throw new Error(`unknown place ${JSON.stringify(at)}`);
      }
    },

    /** Has what was repaired written to the store. */
    async applyRepairs(): Promise<number> {
      return applyTuples();
    },
  };
}

function told(tuples: readonly Tuple[], was: Disagreement): ReconciledPage['repaired'] {
  return tuples.map(({ object, relation, subject }) => ({ tuple: `${object} ${relation} ${subject}`, was }));
}

function placeOf({ object, relation, subject }: Tuple): Tuple {
  return { object, relation, subject };
}
