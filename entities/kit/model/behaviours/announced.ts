import type { Announcement } from '../announcement.ts';
import type { Behaviour } from '../behaviour.ts';

/** Behaviour: endpoints receive events of the kind although no API token reads its records. */
export function announced<const Name extends string = never>(
  announcement: Announcement<Name>,
): Behaviour<NoInfer<Name>> {
  const { concerns = [], allIfEmpty } = announcement;
  return {
    fields: allIfEmpty === undefined ? concerns : [...concerns, allIfEmpty],
    traits: { announced: announcement },
  };
}
