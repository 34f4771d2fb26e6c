import type { ConfigStore } from '#config/live/config-store.ts';
import { AppError, isAppError } from '#entities/kit/base/errors.ts';
import { firstIdAt, isId, newId } from '#entities/kit/base/ids.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { parseInstant } from '#entities/kit/base/instant.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { recordRepair } from '#entities/kit/outbox/delivery-repairs.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { endAnnouncedDeletion } from '#entities/organizations/announced-deletion-rows.ts';
import {
  deletionTime,
  foreseen,
  lifecycleOf,
  noMark,
  type LifecycleDecision,
} from '#entities/organizations/lifecycle.ts';
import {
  lifecycleCandidates,
  lifecycleFacts,
  markedOrganizations,
  type LifecycleRow,
} from '#entities/organizations/lifecycle-rows.ts';
import { namedTime } from '#entities/organizations/named-time.ts';
import { nextStepOf, type NextStep } from '#entities/organizations/next-step.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { organization } from '#entities/organizations/organization.ts';

const dayMs = 86_400_000;

/** Longest time, in days, for which one can look ahead or postpone. */
export const maxDays = 3_650;

/** Until when an organization is spared for ever. */
const forEver = new Date('9999-12-31T00:00:00Z');

/** Organizations of one statement, and the most of them that are examined for one page. */
const pageSize = 500;
const maxExamined = 10_000;

interface Dependencies {
  readonly database: Database;
  readonly config: ConfigStore;
}

/** The operator who asked, and the reason. */
interface Asked {
  readonly operator: string;
  readonly reason: string;
}

interface Page {
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

/** A page of organizations that are marked, or will be. */
export interface ListedLifecycle {
  readonly found: readonly LifecycleRow[];
  /** `after` of the next page; null for the last one. */
  readonly next: string | null;
}

export interface ExplainedLifecycle {
  readonly facts: LifecycleRow;
  readonly decision: LifecycleDecision;
  /** When it is deleted; null without a mark. */
  readonly deletedAt: Date | null;
  readonly next: NextStep | undefined;
  /** State of the sweeps that act on it. */
  readonly marking: 'off' | 'dry run' | 'on';
  readonly deleting: 'off' | 'on';
}

/** Operations of operators on the ends of organizations, at the command line and over REST. */
export class LifecycleOperations {
  readonly #database: Database;
  readonly #config: ConfigStore;

  constructor({ database, config }: Dependencies) {
    this.#database = database;
    this.#config = config;
  }

  /** Marked organizations, the oldest mark first. @throws AppError invalid_input */
  async marked({ limit, after }: Page): Promise<ListedLifecycle> {
    const position = after === undefined ? undefined : positionIn(after);
    const found = await this.#transact((unit) =>
      markedOrganizations(unit, { ...this.#selection(unit.clock.now()), limit, after: position }),
    );
    return { found, next: positionAfter(found, limit) };
  }

  /** Organizations that will be marked within so many days if nothing else happens, in the order of their ids. @throws AppError invalid_input */
  async candidates({ limit, after = firstIdAt(new Date(0)), days }: Page & { readonly days: number }) {
    if (!isId(after)) throw noPosition();
    const settings = this.#settings;
    return this.#transact(async (unit): Promise<ListedLifecycle> => {
      const then = new Date(unit.clock.now().getTime() + days * dayMs);
      const found: LifecycleRow[] = [];
      let last = after;
      for (let examined = 0; examined < maxExamined; examined += pageSize) {
        const page = await lifecycleCandidates(unit, { ...this.#selection(then), limit: pageSize, after: last });
        for (const row of page) {
          if (found.length === limit) return { found, next: last };
          if (lifecycleOf(foreseen(row, then), settings, then).action === 'mark') found.push(row);
          last = row.id;
        }
        if (page.length < pageSize) return { found, next: null };
      }
      return { found, next: last };
    });
  }

  /** The facts that decide about an organization, and the next step. @throws AppError not_found */
  async explain(organizationId: string): Promise<ExplainedLifecycle> {
    const { paymentreminder, organizationdelete } = this.#config.current.integrations;
    return this.#transact(async (unit) => {
      const now = unit.clock.now();
      const facts = await this.#facts(unit, organizationId, now);
      return {
        facts,
        decision: lifecycleOf(facts, paymentreminder, now),
        deletedAt: this.deletedAt(facts),
        next: nextStepOf(facts, paymentreminder, now),
        marking: !paymentreminder.enabled ? 'off' : paymentreminder.dryrun ? 'dry run' : 'on',
        deleting: organizationdelete.enabled ? 'on' : 'off',
      };
    });
  }

  /** When an organization is deleted if nothing else happens; null without a mark. */
  deletedAt(facts: LifecycleRow): Date | null {
    if (facts.markedForDeletionAt === null) return null;
    return facts.deletionRequesterId === null ? deletionTime(facts, this.#settings) : facts.deletionNotBefore;
  }

  /**
   * Moves the day of a deletion. Notices that were sent are not sent again.
   * @returns what was done, as a sentence
   * @throws AppError not_found, invalid_input, rule_violated for an organization that is not marked, and for an earlier day
   */
  async postpone(organizationId: string, until: string, asked: Asked): Promise<string> {
    return this.#change(organizationId, 'postpone', asked, async (unit, facts, now) => {
      const at = namedTime(until, '/until', { now, maxDays });
      const deletedAt = this.deletedAt(facts);
      if (deletedAt === null)
        throw new AppError('rule_violated', `${facts.name} (${facts.id}) is not marked for deletion.`);
      if (at <= deletedAt)
        throw new AppError(
          'rule_violated',
          `${facts.name} (${facts.id}) is not deleted before ${deletedAt.toISOString()}; name a later time.`,
        );
      await unit.data.update(organizationSetting, facts.settingsId ?? '', { deletionNotBefore: at });
      return `${facts.name} is not deleted before ${at.toISOString()}.`;
    });
  }

  /**
   * Takes back the mark of an organization, also that of an owner, and keeps it from being marked.
   * @param until null: for ever
   * @returns what was done, as a sentence
   * @throws AppError not_found, invalid_input, rule_violated for organizations that are never marked
   */
  async spare(organizationId: string, until: string | null, asked: Asked): Promise<string> {
    return this.#change(organizationId, 'spare', asked, async (unit, facts, now) => {
      const at = until === null ? forEver : namedTime(until, '/until', { now });
      const isMarked = facts.markedForDeletionAt !== null;
      if (!isMarked && (facts.isPersonal || facts.parentId !== null))
        throw new AppError(
          'rule_violated',
          `${facts.name} (${facts.id}) is never marked: ${lifecycleOf(facts, this.#settings, now).reason}.`,
        );
      await unit.data.update(organizationSetting, facts.settingsId ?? '', {
        ...noMark,
        sparedUntil: at,
      });
      await endAnnouncedDeletion(unit, facts.id);
      if (isMarked) unit.emit(customEvent(organization, 'spared', facts, { reason: 'operator' }));
      return `${facts.name} is ${isMarked ? 'not marked any more, and is ' : ''}spared ${at === forEver ? 'for ever' : `until ${at.toISOString()}`}.`;
    });
  }

  #change(
    organizationId: string,
    operation: 'postpone' | 'spare',
    { operator, reason }: Asked,
    change: (unit: UnitOfWork, facts: LifecycleRow, now: Date) => Promise<string>,
  ): Promise<string> {
    return this.#transact(async (unit) => {
      // As the sweeps do: whoever locks it first decides.
      if (isId(organizationId)) await unit.data.findLocked(organization, organizationId);
      const now = unit.clock.now();
      const done = await change(unit, await this.#facts(unit, organizationId, now), now);
      const selection = { states: [], eventIds: [organizationId] };
      const repairId = `organization.${organizationId}/${newId()}`;
      await recordRepair(unit, { repairId, operation, selection, operator, reason });
      return done;
    });
  }

  async #facts(unit: UnitOfWork, organizationId: string, now: Date): Promise<LifecycleRow> {
    const facts = isId(organizationId) ? await lifecycleFacts(unit, organizationId, this.#selection(now)) : undefined;
    if (!facts) throw new AppError('not_found', `There is no organization "${organizationId.slice(0, 100)}".`);
    return facts;
  }

  get #settings() {
    return this.#config.current.integrations.paymentreminder;
  }

  #selection(now: Date) {
    return { now, exemptDomains: this.#config.current.ormconfig.billing.bypassemaildomains };
  }

  #transact<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    const context = { caller: systemCaller('lifecycle of operators'), requestId: `lifecycle-${newId()}` };
    return this.#database.transact(context, work);
  }
}

/** Whether an error says that an operator cannot have what they asked for. */
export function isRefusal(error: unknown): error is AppError {
  return isAppError(error) && ['not_found', 'invalid_input', 'rule_violated'].includes(error.code);
}

/** Null after a page that is not full: it is the last one. */
function positionAfter(found: readonly LifecycleRow[], limit: number): string | null {
  const last = found.length < limit ? undefined : found.at(-1);
  return last ? `${last.markedForDeletionAt?.toISOString()}/${last.id}` : null;
}

/** @throws AppError invalid_input */
function positionIn(text: string): readonly [at: string, id: string] {
  const [at = '', id = '', ...others] = text.split('/');
  if (!parseInstant(at) || !isId(id) || others.length > 0) throw noPosition();
  return [at, id];
}

function noPosition(): AppError {
  return inputError([{ path: '/after', message: 'must be `next` of the previous page' }]);
}
