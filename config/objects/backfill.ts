import { flag, object } from '../schema/field.ts';

/** `backfill`. */
export const backfill = object('Backfills of fields that migrations added to existing records.', {
  enabled: flag({
    description:
      'Starts the main backfill job once at start. The job fills fields that recent migrations added to existing organizations and memberships. Each backfill then follows its own settings.',
    restart: true,
  }),
});
