export { workflowAssignment } from './workflow-assignment.ts';
export { workflowDefinition } from './workflow-definition.ts';
export { workflowDryRun } from './workflow-dry-run.ts';
export { workflowEvent } from './workflow-event.ts';
export { workflowInstance } from './workflow-instance.ts';
export { workflowVersion } from './workflow-version.ts';
