import { customEvent } from '#entities/kit/write/custom-events.ts';
import { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import { defineRemovalStep } from './define-removal-step.ts';

export const reportRemovalStep = defineRemovalStep({
  name: 'reportRemoval',
  description: 'Announces the end of the removal, of which the person who deleted the organization is notified.',
  after: 'others',
  end(unit, removal) {
    const { removedRecords, skippedSteps } = removal;
    unit.emit(customEvent(organizationRemoval, 'completed', removal, { removedRecords, skippedSteps }));
  },
});
