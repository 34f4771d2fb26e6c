import type { ObjectStorage } from '#activities/clients/storage/object-storage.ts';
import type { DueWork } from '#entities/kit/due-work/define-due-work.ts';

/** The lanes of due work that are not paused: objects are copied whose provider has a backup. Work without lanes has one without a name. */
export function openLanesOf(
  { rows }: DueWork,
  { storage }: { readonly storage: ObjectStorage },
): readonly (string | undefined)[] {
  return rows.lane === 'provider' ? storage.backedUpProviders : [undefined];
}
