import type { SchemaHook } from '../schema-hook.ts';
import { prepareSecondDatabase, whySecondIsNotReady, type Settings } from './prepare-second-database.ts';
import { removeCapture } from './row-capture.ts';

export const secondDatabaseSchema: SchemaHook<Settings> = {
  tables: [/^second_database$/, /^row_images$/, /^commit_decisions$/],
  furtherUrls: ({ multiwrite, secondarydbsource }) => (multiwrite ? [secondarydbsource] : []),
  // A migration writes different data in two databases, so everything is copied anew afterwards.
  beforeMigrations: removeCapture,
  afterMigrations: prepareSecondDatabase,
  whyNotReady: whySecondIsNotReady,
};
