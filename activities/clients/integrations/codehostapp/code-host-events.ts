/** Events of the app that are acted on, as `<event>.<action>`. */
export const codeHostEvents: ReadonlySet<string> = new Set([
  'installation.deleted',
  'installation.suspend',
  'installation.unsuspend',
  'organization.deleted',
  'organization.member_added',
  'organization.member_removed',
  'organization.renamed',
  'membership.added',
  'membership.removed',
  'team.created',
  'team.deleted',
  'team.edited',
]);

/** Name of the sender in the records of events. */
export const codeHostSource = 'codehostapp';
