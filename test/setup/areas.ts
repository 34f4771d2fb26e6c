/** The areas of the product: one word each, in every layer that is divided by area. */
export const areas = [
  'identity',
  'organizations',
  'groups',
  'work',
  'files',
  'notifications',
  'email',
  'webhooks',
  'transfers',
  'billing',
  'integrations',
  'automation',
];

/** Folders that are divided by area, and what else stands in them: it belongs to no area, or to all. */
export const dividedByArea: Readonly<Record<string, readonly string[]>> = {
  entities: ['kit', 'presets'],
  workflows: ['kit', 'events', 'maintenance'],
  activities: [
    'kit',
    'clients',
    'listeners',
    'mails',
    'sweeps',
    'backfills',
    'removals',
    'events',
    'maintenance',
    'authorization',
  ],
  'activities/listeners': [],
  'activities/mails': [],
  'activities/sweeps': ['maintenance'],
  relay: ['outbox', 'changes', 'due-work', 'tuples', 'authorization'],
  'api/actions': ['kit'],
  'api/rest': ['records', 'events', 'pages', 'service'],
  'test/api': ['records', 'events', 'http', 'graphql', 'service', 'description', 'remedies'],
  'test/workflows': ['events', 'maintenance'],
};
