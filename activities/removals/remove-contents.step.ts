import { defineRemovalStep } from './define-removal-step.ts';
import { removeSlice } from './removal-slice.ts';

export const removeContentsStep = defineRemovalStep({
  name: 'removeContents',
  description: 'Deletes the records of the organization, slice by slice.',
  // The row that names the customer of the payment provider is one of the contents, and so are credentials, which end at the other systems first.
  after: ['cancelSubscriptions', 'disconnectIntegrations'],
  run: ({ database }, { id }) => removeSlice(database, id),
});
