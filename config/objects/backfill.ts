import { flag, object } from '../schema/field.ts';

/** `backfill` (specification: Backfill). */
export const backfill = object('One-time startup backfills.', {
  enabled: flag({
    description:
      'Starts the main backfill job once at start: it fills fields added by recent migrations for organizations and memberships that are older; each backfill then runs by its own settings.',
    restart: true,
  }),
});
