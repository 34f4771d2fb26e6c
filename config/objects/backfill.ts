import { flag, object } from '../schema/field.ts';

/** `backfill`. */
export const backfill = object('Backfills of fields that migrations added to existing records.', {
  enabled: flag({
    description:
      'Runs the backfills: jobs that give existing records what a new release needs, each once. Workers start them once the schema is current, and each follows its own settings. While this is off, a running one stops after its page, and continues later.',
  }),
});
