import type { Catalogue } from '#entities/billing/catalogue/catalogue.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { PaymentFailure } from '../clients/payment/payment-failure.ts';
import type { PaymentProvider } from '../clients/payment/payment-provider.ts';
import type { ActivityDependencies } from '../kit/activity-dependencies.ts';
import type { Round } from './draw-round.ts';

export type BillingDependencies = Pick<
  ActivityDependencies,
  'config' | 'database' | 'logger' | 'onBillingRepaired' | 'payment'
>;

/** The parts of a round share these. */
export interface RoundParts {
  readonly provider: PaymentProvider;
  readonly catalogue: Catalogue;
  /** Runs a transaction of the server. None is open while the provider is asked. */
  readonly transact: <T>(work: (unit: UnitOfWork) => Promise<T>) => Promise<T>;
  readonly round: Round;
}

/** Whether the provider refuses a request, so that a repetition is refused as well. */
export function isRefusal(error: unknown): error is PaymentFailure {
  return error instanceof PaymentFailure && error.reason !== 'unavailable';
}

/** Whether a repetition under the same key fails as well: the provider refuses it, or repeats a failure. The request may have had its effect. */
export function isKeySpent(error: unknown): boolean {
  return isRefusal(error) || (error instanceof PaymentFailure && error.isReplayed);
}
