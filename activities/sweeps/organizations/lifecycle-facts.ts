import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { lifecycleFacts, type LifecyclePage, type LifecycleRow } from '#entities/organizations/lifecycle-rows.ts';
import type { SweepSelection } from '../define-sweep.ts';

/** The organizations of a page, or the one that is decided about again. */
export async function factsOf(
  unit: UnitOfWork,
  { now, config, limit, only }: Omit<SweepSelection, 'after'>,
  page: (selection: LifecyclePage) => Promise<LifecycleRow[]>,
): Promise<LifecycleRow[]> {
  const selection = { now, exemptDomains: config.ormconfig.billing.bypassemaildomains };
  if (only === undefined) return page({ ...selection, limit });
  const facts = await lifecycleFacts(unit, only, selection);
  return facts ? [facts] : [];
}
