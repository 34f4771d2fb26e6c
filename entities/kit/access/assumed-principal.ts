import { concurrentChanges } from '../base/errors.ts';
import type { Precondition } from '../model/work-context.ts';
import type { CrashWatch } from '../storage/crash-watch.ts';
import { queryOutsideTransaction } from '../storage/one-round-trip.ts';
import type { StatementSource } from '../storage/transaction.ts';
import {
  resultColumn,
  snapshotStatement,
  stateIn,
  type Principal,
  type PrincipalSnapshot,
  type StateStatement,
} from './principal-state.ts';

/** Facts about a state in the database when it was read: `caller_basis`. */
interface Basis {
  /** `pg_snapshot`: which transactions were visible. */
  readonly snapshot: string;
  /** When PostgreSQL started. Another server has other transaction ids. */
  readonly server: string;
  /** Hashes of the ids whose changes are noted in `caller_changes`. */
  readonly scopes: readonly string[];
}

/** Compares a state with the changes since it was read. */
interface Comparison {
  readonly statement: StateStatement;
  /** When the state was read, in milliseconds. */
  readonly readAt: number;
  /** `CrashWatch.generation` before the state was read. PostgreSQL may give ids of transactions out again after a crash. */
  readonly generation: number;
}

type Generation = Pick<CrashWatch, 'generation'>;

/** A state, and on whom it depends. */
interface WatchedPrincipal {
  readonly snapshot: PrincipalSnapshot;
  /** Hashes of the ids whose changes are noted in `caller_changes`. */
  readonly scopes: readonly string[];
}

/**
 * Reads the state of a caller for work that continues for long: whoever follows `caller_changes` learns from the scopes when to read it
 * again. An `AssumedPrincipal` of the snapshot compares with what has been noted since.
 * @throws AppError database_busy, database_unavailable, deadline_exceeded
 */
export async function readWatchedPrincipal(
  database: StatementSource & Generation,
  principal: Principal,
  deadline: number,
): Promise<WatchedPrincipal> {
  const { generation } = database;
  const { rows } = await queryOutsideTransaction<{ readonly result: string }>(
    database,
    { role: 'app', organizationId: principal.organizationId, userId: null, deadline },
    basisStatement(principal),
  );
  const [text = '', basis = ''] = (rows[0]?.result ?? '').split('\n');
  const snapshot = { state: stateIn(text), text };
  const { scopes } = JSON.parse(basis) as Basis;
  keepBasis(principal, snapshot, JSON.parse(basis) as Basis, generation);
  return { snapshot, scopes };
}

function keepBasis(principal: Principal, snapshot: PrincipalSnapshot, basis: Basis, generation: number): void {
  if (basis.scopes.length > maxScopes) return;
  const statement = changesStatement(principal, basis);
  comparisons.set(snapshot, { statement, readAt: performance.now(), generation });
}

/** The result for a state that no noted change concerns. */
const unchanged = '';

/** Above any depth of organizations and number of single sign-ons; a state that depends on more is read with each request. */
const maxScopes = 64;

/** Time for which a basis is valid, in milliseconds. Nothing depends on it; it bounds what a fault of the database could do. */
const maxAgeMs = 60_000;

const comparisons = new WeakMap<PrincipalSnapshot, Comparison>();

/**
 * The state that a caller had at the last request with the same token. The first statement of a unit of work that starts from it
 * takes the question along whether it is still the same, which saves a round trip. If it is not, the work must be repeated.
 *
 * The question is answered by the changes that have been noted since (`caller_changes`). Only if one concerns the caller, the state
 * is read and compared.
 */
export class AssumedPrincipal implements Precondition {
  readonly text: string;
  readonly values: readonly (string | null)[];
  readonly #principal: Principal;
  readonly #snapshot: PrincipalSnapshot;
  readonly #database: Generation;
  readonly #generation: number;
  #outcome: 'unknown' | 'confirmed' | 'refuted' = 'unknown';

  /** @param database where the statement is sent */
  constructor(principal: Principal, snapshot: PrincipalSnapshot, database: Generation) {
    this.#database = database;
    this.#generation = database.generation;
    const kept = comparisons.get(snapshot);
    const isFresh = kept?.generation === this.#generation && performance.now() - kept.readAt < maxAgeMs;
    const { text, values } = isFresh ? kept.statement : basisStatement(principal);
    this.text = text;
    this.values = values;
    this.#principal = principal;
    this.#snapshot = snapshot;
  }

  /** Unknown until the state was read. Once refuted, it stays refuted: part of the work may have been done already. */
  get outcome(): 'unknown' | 'confirmed' | 'refuted' {
    return this.#outcome;
  }

  /** @param text the current state */
  compare(text: string | null): void {
    if (this.#outcome !== 'refuted') this.#outcome = text === this.#snapshot.text ? 'confirmed' : 'refuted';
  }

  /** @throws AppError concurrent_changes if the state has changed */
  check(result: string | null): void {
    // A connection that was opened after a crash may have answered.
    if (result === unchanged) this.compare(this.#database.generation === this.#generation ? this.#snapshot.text : null);
    else this.#compareWithBasis(result);
    if (this.#outcome === 'refuted') throw concurrentChanges(new Error('the rights of the caller have changed'));
  }

  /** @param result the state, a line break, and its basis */
  #compareWithBasis(result: string | null): void {
    const [text = null, basis = ''] = result?.split('\n') ?? [];
    this.compare(text);
    if (this.#outcome === 'confirmed')
      keepBasis(this.#principal, this.#snapshot, JSON.parse(basis) as Basis, this.#generation);
  }
}

/** Texts of statements by that for the state, so that each is made and kept once. */
const basisTexts: Record<string, string | undefined> = {};
/** By number of scopes. */
const changesTexts: Record<string, (string | undefined)[]> = {};

/** The statement for a state and its basis: one column of one row, with a line break between them. */
function basisStatement(principal: Principal): StateStatement {
  const { text, values } = snapshotStatement(principal);
  const basisText = (basisTexts[text] ??= text.replace(
    resultColumn,
    `to_json(found)::text || E'\\n' || caller_basis(${idsOf(principal)}) as result`,
  ));
  return { text: basisText, values };
}

/** SQL of the ids on which a state depends and which only its caller names, or it shows, and of its organization; the database finds the others. */
function idsOf(principal: Principal): string {
  if ('sessionId' in principal) return 'array[$1, $2, found."singleSignOnId"], $3';
  if ('delegationId' in principal)
    return `array[$1, found.delegation ->> 'actorId', found.delegation ->> 'subjectId'], found.delegation ->> 'organizationId'`;
  return `array[$2, $4, found.token ->> 'userId'], found.token ->> 'organizationId'`;
}

function changesStatement(principal: Principal, { snapshot, server, scopes }: Basis): StateStatement {
  const { text, values } = basisStatement(principal);
  const byCount = (changesTexts[text] ??= []);
  const changesText = (byCount[scopes.length] ??= changesTextOf(text, values.length, scopes.length));
  return { text: changesText, values: [...values, server, snapshot, ...scopes] };
}

/**
 * The statement that returns `unchanged`, or the state with its basis. A noted change counts unless its transaction was visible to the
 * statement that read the state, so neither the order of commits nor clocks matter.
 * @param text the statement for the state with its basis
 * @param before number of its parameters
 */
function changesTextOf(text: string, before: number, count: number): string {
  const server = `$${before + 1}::timestamptz`;
  const snapshot = `$${before + 2}::pg_snapshot`;
  const scopes = Array.from({ length: count }, (_, index) => `$${before + 3 + index}`).join();
  return `select case when pg_postmaster_start_time() = ${server} and not exists (select 1 from caller_changes c
    where c.scope in (${scopes}) and c.xid >= pg_snapshot_xmin(${snapshot}) and not pg_visible_in_snapshot(c.xid, ${snapshot}))
    then '${unchanged}' else (${text}) end as result`;
}
