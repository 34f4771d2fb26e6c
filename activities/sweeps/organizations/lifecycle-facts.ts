import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { foreseen } from '#entities/organizations/lifecycle.ts';
import { lifecycleFacts, type LifecyclePage, type LifecycleRow } from '#entities/organizations/lifecycle-rows.ts';
import type { SweepSelection } from '../define-sweep.ts';

/** The organizations of a page, or the one that is decided about again. */
export async function factsOf(
  unit: UnitOfWork,
  { now, config, isForesight, limit, only }: Omit<SweepSelection, 'after'>,
  page: (selection: LifecyclePage) => Promise<LifecycleRow[]>,
): Promise<LifecycleRow[]> {
  const selection = { now, exemptDomains: config.ormconfig.billing.bypassemaildomains };
  if (only === undefined) {
    const found = await page({ ...selection, limit });
    return isForesight ? found.map((facts) => foreseen(facts, now)) : found;
  }
  const facts = await lifecycleFacts(unit, only, selection);
  return facts ? [facts] : [];
}
