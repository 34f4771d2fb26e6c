import type { Refusal } from '../kit/model/behaviour.ts';

/** Only the server changes what is part of a managed group. @param advice a sentence for whoever wanted to */
export function refusedInManagedGroup(advice: string): Refusal<'groupId'> {
  return {
    on: ['create', 'edit', 'remove'],
    unlessSystem: true,
    refuseIf: `exists (select 1 from groups m where m.id = row.group_id and m.managed_as is not null)`,
    field: 'groupId',
    code: 'permission_denied',
    message: `The group is managed by the server. ${advice}`,
  };
}
