import { selectedCatalogue } from '#entities/billing/catalogue/selected-catalogue.ts';
import { isPurchased } from '#entities/billing/live-subscription.ts';
import type { CustomerState } from '#entities/billing/provider-state.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { changeBilling } from './billing-row.ts';
import { cancelAll } from './cancel-subscriptions.ts';
import { drawRound, roundTimeMs } from './draw-round.ts';
import { endReplacedTrial } from './end-replaced-trial.ts';
import { ensureCustomer } from './ensure-customer.ts';
import { ensureTrial } from './ensure-trial.ts';
import { followContact } from './follow-contact.ts';
import { isRefusal, type BillingDependencies, type RoundParts } from './round-parts.ts';
import { writeRound } from './write-round.ts';

export interface RoundRequest {
  readonly organizationId: string;
  /** Nobody has reported a change: differences are named. */
  readonly isComparison: boolean;
}

/**
 * Draws a number, makes sure of customer and trial, reads what the customer has, and writes what follows from it, unless a later round has
 * written: what it has read is newer. Every step is a request or a transaction of its own, and can be repeated.
 * @throws PaymentFailure while the provider cannot be asked
 */
export async function reconcileOrganization(
  { config, database, logger, onBillingRepaired, payment }: BillingDependencies,
  { organizationId, isComparison }: RoundRequest,
): Promise<void> {
  const provider = payment();
  // Billing was turned off meanwhile.
  if (!provider) return;
  const catalogue = selectedCatalogue(config.current.ormconfig.modules);
  // Of all organizations: a lapse concerns those below as well.
  const transact: RoundParts['transact'] = (work) =>
    database.transact(workContext(systemCaller('billing'), `billing-${organizationId}`), work);
  const round = await transact((unit) => drawRound(unit, organizationId, catalogue));
  if (!round) return;
  failpoint('billing-drawn');
  const parts = { provider, catalogue, transact, round };
  const problems: string[] = [];
  const outages: unknown[] = [];
  const now = database.options.clock.now();
  const read = await noting(problems, () => readCustomer(parts, { problems, outages }, now));
  failpoint('billing-read');
  if (!read) {
    await transact((unit) =>
      changeBilling(unit, organizationId, ({ appliedRound }) =>
        appliedRound < round.number
          ? { problem: problems.join('\n'), nextCheckAt: new Date(unit.clock.now().getTime() + roundTimeMs) }
          : undefined,
      ),
    );
    logger.warn({ organization_id: organizationId, problems }, 'the customer of an organization cannot be read');
    return;
  }
  const written = await transact((unit) =>
    writeRound(unit, { ...read, number: round.number, organizationId, catalogue, problems, isComparison }),
  );
  failpoint('billing-written');
  if (written === 'removed' && read.customerId !== null) await cancelAll(provider, read.customerId, organizationId);
  else if (typeof written !== 'string' && isComparison && written.length > 0) {
    onBillingRepaired(written.length);
    logger.warn(
      { organization_id: organizationId, differences: written },
      'rows differed from what the payment provider has, and were repaired',
    );
  }
  // The state is written, whatever else the provider could not do; that is repeated.
  if (outages.length > 0) throw outages[0];
}

interface ReadCustomer {
  /** Null while the provider refuses to create it. */
  readonly customerId: string | null;
  readonly state: CustomerState;
}

const noCustomer: CustomerState = {
  isDeleted: false,
  organizationId: null,
  email: null,
  hasPaymentMethod: false,
  subscriptions: [],
};

/** Requests of a round that the provider did not fulfil. */
interface Failures {
  /** Refusals, one sentence each. */
  readonly problems: string[];
  /** Errors of requests that are to be repeated. */
  readonly outages: unknown[];
}

/** @returns undefined when the customer has no state that could be written */
async function readCustomer(
  parts: RoundParts,
  failures: Failures,
  now: Date,
  isReplaced = false,
): Promise<ReadCustomer | undefined> {
  const { problems, outages } = failures;
  const { provider, round } = parts;
  const { organizationId } = round.billing;
  const customerId = await noting(problems, () => ensureCustomer(parts));
  // Its trial ends all the same.
  if (customerId === undefined) return { customerId: null, state: noCustomer };
  const state = await provider.readCustomer(customerId);
  if (state.isDeleted && !isReplaced) {
    const billing = await forgetCustomer(parts, customerId);
    return billing && readCustomer({ ...parts, round: { ...round, billing, isRepeated: false } }, failures, now, true);
  }
  if (state.organizationId !== organizationId) {
    problems.push(`The customer ${customerId} was not created for this organization: nothing that it has applies.`);
    return undefined;
  }
  const trying = <T>(work: () => Promise<T>) =>
    noting(problems, work).catch((error: unknown) => {
      outages.push(error);
      return undefined;
    });
  await trying(() => followContact(parts, customerId));
  const isOnTrial = await trying(() => ensureTrial(parts, customerId, state, now));
  const isReplacing = await trying(() => endReplacedTrial(parts, state));
  if (state.subscriptions.some(isPurchased)) await trying(() => provider.expireCheckouts(customerId));
  return { customerId, state: isOnTrial || isReplacing ? await provider.readCustomer(customerId) : state };
}

/** The customer was deleted at the provider, with its subscriptions. The organization gets another one, so that it can subscribe again. */
function forgetCustomer({ transact, round }: RoundParts, customerId: string) {
  const { billing, party } = round;
  return transact((unit) =>
    changeBilling(unit, billing.organizationId, (held) =>
      held.customerId === customerId
        ? {
            customerId: null,
            customerGeneration: held.customerGeneration + 1,
            trialGeneration: held.trialGeneration + 1,
            billedAs: party,
          }
        : undefined,
    ),
  );
}

/** Keeps why the provider refuses a request; the others are made all the same. @returns undefined when it refuses */
async function noting<T>(problems: string[], work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    problems.push(`The payment provider ${error.message}`);
    return undefined;
  }
}
