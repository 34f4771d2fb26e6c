import type { Work } from '../storage/work.ts';
import type { ProviderName } from './stored-object.ts';

/** How many objects each of these providers has; one without objects is left out. */
export function countObjects(
  work: Work,
  providers: readonly ProviderName[],
): Promise<readonly { readonly provider: ProviderName; readonly objects: number }[]> {
  return work.rowsAsSystem<{ provider: ProviderName; objects: number }>(
    `select provider, count(*)::int as objects from stored_objects
     where provider = any($1) and state in ('ready', 'owned', 'released') group by provider`,
    [providers],
  );
}
