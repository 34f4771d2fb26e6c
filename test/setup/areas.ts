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
] as const;
